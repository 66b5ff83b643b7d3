import type { TaskRecord } from "@taskbridge/core/store";
import { toKey } from "./to-key.ts";
import { toNumber } from "./to-number.ts";

/** What is searched for, in the order in which the functions of the schema take it. */
export const toColumns = (record: Omit<TaskRecord, "revision">): readonly unknown[] => [
  record.owner === null ? null : toKey(record.owner),
  toKey(record.tool),
  toKey(record.adapterId),
  toNumber("start", record.startKey),
  record.ref === undefined ? null : toNumber("ref", record.ref),
  record.createdAt,
  record.slotHeld,
  record.expired === true,
  record.wakeAt,
];
