import { createHash } from "node:crypto";
import type { TaskRecord, UniqueKey } from "@taskbridge/core/store";
import type { IndexKeys } from "../keys.ts";
import type { Attempt } from "./attempt.ts";
import { toSortable } from "./index-entry.ts";

/**
 * A record as it is kept: a line of what the scripts must know, then the record as JSON, byte for byte as it was written.
 * `<revision> <attempt> <createdAt, sortable> <o: holds a slot, or -> <signature of its indexes> <unique keys, JSON>`
 */
export interface StoredRecord {
  readonly revision: number;
  readonly attempt: Attempt;
  readonly uniqueKeys: readonly UniqueKey[];
  readonly record: TaskRecord;
}

const partLength = 6;
const noPart = "-".repeat(partLength);

/** One part for each index, by which the scripts see whether a record must be entered elsewhere. */
export const signatureOf = (indexKeys: IndexKeys, { createdAt }: Pick<TaskRecord, "createdAt">): string =>
  indexKeys
    .map((key) =>
      key === undefined
        ? noPart
        : createHash("sha1")
            .update(`${createdAt} ${key}`)
            .digest("base64url")
            .replaceAll("-", ".")
            .slice(0, partLength),
    )
    .join("");

type KeyTuple = readonly [key: string, until: number | null, heldForMs: number | null];

export const toStored = (
  { revision, attempt, uniqueKeys, record }: StoredRecord,
  text: string,
  signature: string,
): string => {
  const keys = uniqueKeys.map(({ key, until, heldForMs }): KeyTuple => [key, until ?? null, heldForMs ?? null]);
  const slot = record.slotHeld ? "o" : "-";
  return `${revision} ${attempt} ${toSortable(record.createdAt)} ${slot} ${signature} ${JSON.stringify(keys)}\n${text}`;
};

/** A fresh copy for the caller. */
export const parseRecord = (stored: string): TaskRecord => JSON.parse(stored.slice(stored.indexOf("\n") + 1));

export const parseStored = (stored: string): StoredRecord => {
  const [revision = "", attempt = "", , , , ...keys] = stored.slice(0, stored.indexOf("\n")).split(" ");
  const tuples: readonly KeyTuple[] = JSON.parse(keys.join(" "));
  return {
    revision: Number(revision),
    attempt,
    uniqueKeys: tuples.map(([key, until, heldForMs]) => ({
      key,
      ...(until === null ? {} : { until }),
      ...(heldForMs === null ? {} : { heldForMs }),
    })),
    record: parseRecord(stored),
  };
};
