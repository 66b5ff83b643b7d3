import type { StoreKind } from "./benched-store.ts";
import { postgresKind } from "./postgres-kind.ts";
import { redisAlwaysKind, redisKind } from "./redis-kind.ts";
import { sqliteKind } from "./sqlite-kind.ts";
import { UsageError } from "./usage-error.ts";

/** In the order in which they are measured. */
export const storeKinds: readonly StoreKind[] = [sqliteKind, redisKind, redisAlwaysKind, postgresKind];

export const storeKind = (name: string): StoreKind => {
  const kind = storeKinds.find((one) => one.name === name);
  if (kind === undefined)
    throw new UsageError(
      `no store is called ${JSON.stringify(name)}; there are: ${storeKinds.map((one) => one.name).join(", ")}`,
    );
  return kind;
};
