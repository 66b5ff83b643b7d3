import { assertValue, type StoredValues } from "@taskbridge/core/store";
import type { StoreParts } from "./store-parts.ts";
import { toKey } from "./to-key.ts";
import { toOnPrimary } from "./to-on-primary.ts";

/** Values are kept as JSON, which can write what PostgreSQL's texts cannot hold. */
export const createValues = ({ connection: { query }, schema }: StoreParts): StoredValues => ({
  read: async (name) => {
    const [row] = await query<{ readonly value: string }>("values.read", {
      text: `SELECT value FROM ${schema}.stored_values WHERE name = $1 AND ${toOnPrimary(schema)}`,
      values: [toKey(name)],
      isRead: true,
    });
    return row && JSON.parse(row.value);
  },
  write: async (name, value, previous, { durable = true } = {}) => {
    assertValue(name, value);
    const [row] = await query<{ readonly written: boolean }>("values.write", {
      text: `SELECT ${schema}.write_value($1, $2, $3, $4) AS written`,
      values: [toKey(name), JSON.stringify(value), previous === undefined ? null : JSON.stringify(previous), durable],
    });
    return row?.written === true;
  },
});
