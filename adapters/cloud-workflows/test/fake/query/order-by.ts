import { invalidArgument } from "../google-error.ts";

export type Order<Item> = (one: Item, other: Item) => number;

type Key = string | number;

/** "Comma-separated list of fields"; ascending unless `desc` follows: https://google.aip.dev/132#ordering */
export const parseOrderBy = <Item>(text: string, keys: Readonly<Record<string, (item: Item) => Key>>): Order<Item> => {
  const parts = text.split(",").map((part) => {
    const [name = "", direction = "asc", ...rest] = part.trim().split(/\s+/);
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined || rest.length > 0 || !["asc", "desc"].includes(direction))
      throw invalidArgument(`Invalid order_by: ${text}`);
    return { key, sign: direction === "desc" ? -1 : 1 };
  });
  return (one, other) => {
    for (const { key, sign } of parts) {
      const [a, b] = [key(one), key(other)];
      if (a !== b) return (a < b ? -1 : 1) * sign;
    }
    return 0;
  };
};
