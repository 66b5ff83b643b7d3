import {
  BridgeError,
  type ReviseOptions,
  removedIdReservedMs,
  revisionConflict,
  type TaskId,
  type TaskRecord,
} from "@taskbridge/core/store";
import { type IndexKeys, indexKeysOf, keysInSlot } from "../keys.ts";
import { loadScript } from "../redis/load-script.ts";
import type { Call, Command } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { hintOf } from "./due-records.ts";
import { toEntry, toSortable } from "./index-entry.ts";
import { parseStored, type StoredRecord, signatureOf } from "./stored-record.ts";
import { leaveKey } from "./unique-keys.ts";

const reviseScript = loadScript("revise-record");
const removeScript = loadScript("remove-record");

const recordMissing = (taskId: TaskId): BridgeError =>
  new BridgeError("not_found", `there is no task ${taskId}`, { operation: "revise" });

/** Where a record stands in the indexes of other slots. */
interface RecordKeys {
  readonly keys: IndexKeys;
  readonly entry: string;
}

const recordKeysOf = (context: StoreContext, { record, attempt }: StoredRecord): RecordKeys => ({
  keys: indexKeysOf(context.keys, record),
  entry: toEntry(record, attempt),
});

/** Indexes in which these places are and the others are not. */
const differing = (these: RecordKeys, others: RecordKeys): string[] =>
  these.keys.flatMap((key, index) =>
    key === undefined || (key === others.keys[index] && these.entry === others.entry) ? [] : [key],
  );

/**
 * Replaces a record by one script in its own slot. Where it now stands in further indexes it is entered there first, so that nothing
 * is missing from an index if we die in between; and once more afterwards, for who counts the open ones may have taken it out. Where
 * it no longer stands it is taken out last.
 */
export const reviseRecord = async (
  context: StoreContext,
  call: Call,
  record: TaskRecord,
  expectedRevision: number,
  options: ReviseOptions,
): Promise<TaskRecord> => {
  const revised: TaskRecord = JSON.parse(JSON.stringify({ ...record, revision: expectedRevision + 1 }));
  const { taskId } = record;
  let entering: Command[] = [];
  for (;;) {
    const isEntered = entering.length > 0;
    const revision = toRevision(context, revised, expectedRevision, options, isEntered);
    const replies = await context.port.send(call, entering, [revision], hintOf(context.keys, revised));
    const [outcome, before] = replies[entering.length] as [string, string?];
    if (outcome === "missing") throw recordMissing(taskId);
    if (outcome === "conflict") throw revisionConflict("revise", taskId, Number(before), expectedRevision);
    if (outcome === "done") {
      if (before !== undefined) await moveEntries(context, call, before, revised, entering);
      return revised;
    }
    const stored = parseStored(before ?? "");
    const [old, next] = [recordKeysOf(context, stored), recordKeysOf(context, { ...stored, record: revised })];
    entering = differing(next, old).map((key) => ({ call: ["zadd", key, 0, next.entry] }));
  }
};

const toRevision = (
  context: StoreContext,
  revised: TaskRecord,
  expectedRevision: number,
  { payloads = [], dropPayloads = [] }: ReviseOptions,
  isEntered: boolean,
): Command => {
  const { taskId, createdAt, slotHeld, wakeAt } = revised;
  const dropped = dropPayloads === "all" ? [] : dropPayloads;
  return {
    script: reviseScript,
    keys: keysInSlot(context.keys, taskId),
    args: [
      taskId,
      context.keys.payloads(taskId),
      expectedRevision,
      toSortable(createdAt),
      slotHeld ? "o" : "-",
      signatureOf(indexKeysOf(context.keys, revised), revised),
      isEntered ? 1 : 0,
      wakeAt ?? "",
      JSON.stringify(revised),
      dropPayloads === "all" ? "all" : "some",
      dropped.length,
      ...dropped,
      ...payloads.flatMap(({ name, bytes }) => [name, bytes]),
    ],
  };
};

const moveEntries = async (
  context: StoreContext,
  call: Call,
  storedBefore: string,
  revised: TaskRecord,
  entered: readonly Command[],
): Promise<void> => {
  const stored = parseStored(storedBefore);
  const before = recordKeysOf(context, stored);
  const after = recordKeysOf(context, { ...stored, record: revised });
  const leaving = differing(before, after).map((key): Command => ({ call: ["zrem", key, before.entry] }));
  await context.port.send({ ...call, isDurable: false }, [...leaving, ...entered]);
};

/**
 * Removes a record by one script in its own slot. Its unique keys are told before, for those that outlive it must not be free in
 * between; they are freed, and its entries in indexes go, last, or by who comes across them.
 */
export const removeRecord = async (
  context: StoreContext,
  call: Call,
  taskId: TaskId,
  expectedRevision?: number,
): Promise<boolean> => {
  const { keys, port } = context;
  let holding: Command[] = [];
  let held = "";
  for (;;) {
    const remove: Command = {
      script: removeScript,
      keys: keysInSlot(context.keys, taskId),
      args: [taskId, keys.payloads(taskId), held, removedIdReservedMs, expectedRevision ?? ""],
    };
    // Not in one go: where a key could not be marked, the record must stay.
    await port.send(call, holding);
    const [reply] = await port.send(call, [remove]);
    const [outcome, before = ""] = reply as [string, string?];
    if (outcome === "missing") return false;
    if (outcome === "conflict") throw revisionConflict("remove", taskId, Number(before), expectedRevision);
    const stored = parseStored(before);
    const leave = (step: "hold" | "end"): Command[] =>
      stored.uniqueKeys.map(({ key }) => leaveKey(keys, key, stored.attempt, step, context.now()));
    if (outcome === "done") {
      const { keys: locations, entry } = recordKeysOf(context, stored);
      const leaving = locations.flatMap((key): Command[] =>
        key === undefined ? [] : [{ call: ["zrem", key, entry] }],
      );
      await port.send(call, [...leaving, ...leave("end")]);
      return true;
    }
    held = stored.attempt;
    holding = leave("hold");
  }
};
