import type { StoreKind } from "./benched-store.ts";
import { sqliteKind } from "./sqlite-kind.ts";

/** In the order in which they are measured. */
export const storeKinds: readonly StoreKind[] = [sqliteKind];

export const storeKind = (name: string): StoreKind => {
  const kind = storeKinds.find((one) => one.name === name);
  if (kind === undefined)
    throw new Error(
      `no store is called ${JSON.stringify(name)}; there are: ${storeKinds.map((one) => one.name).join(", ")}`,
    );
  return kind;
};
