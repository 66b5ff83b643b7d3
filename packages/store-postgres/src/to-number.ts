import { createHash } from "node:crypto";

/** 64 bits of a hash, as PostgreSQL's `bigint` in digits. */
export const toNumber = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest().readBigInt64BE().toString();
