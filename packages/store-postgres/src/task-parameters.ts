import type { CreateOptions, Payload, TaskRecord } from "@taskbridge/core/store";
import { toIdKey, toKey } from "./to-key.ts";
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

/** Payloads as the functions of the schema take them: names, sizes, and the bytes one behind the other. The last of a name counts. */
export const toPayloadParameters = (payloads: readonly Payload[]): readonly [string[], number[], Buffer] => {
  const byName = new Map(payloads.map(({ name, bytes }) => [toKey(name), bytes]));
  const all = [...byName.values()];
  return [[...byName.keys()], all.map(({ length }) => length), Buffer.concat(all)];
};

/** The arguments of `create_task`, but for the deadline. */
export const toCreateParameters = (
  schema: string,
  record: Omit<TaskRecord, "revision">,
  text: string,
  { uniqueKeys, maxOpenForOwner, maxOpenForTool, payloads }: CreateOptions,
): readonly unknown[] => {
  // The last of a key counts.
  const keys = [...new Map(uniqueKeys.map((one) => [toKey(one.key), one]))];
  const locks = [toNumber("task", schema, record.taskId), ...keys.map(([key]) => toNumber("key", schema, key))];
  if (record.slotHeld && maxOpenForOwner !== null) locks.push(toNumber("owner", schema, String(record.owner)));
  if (record.slotHeld && maxOpenForTool !== null) locks.push(toNumber("tool", schema, record.tool));
  return [
    locks.sort((a, b) => Number(BigInt(a) - BigInt(b))),
    ...[toIdKey(record.taskId), ...toColumns(record), text],
    ...[keys.map(([key]) => key), keys.map(([, { until }]) => until ?? null)],
    ...[keys.map(([, { heldForMs }]) => heldForMs ?? null), maxOpenForOwner, maxOpenForTool],
    ...toPayloadParameters(payloads),
  ];
};
