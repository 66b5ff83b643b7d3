import { performance } from "node:perf_hooks";
import { BridgeError, type TaskId, type TaskRecord } from "@taskbridge/core/store";
import type { Call, Command } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { deadlineOf } from "./attempt.ts";
import { parseEntry } from "./index-entry.ts";
import { abortScript, triesForOwn } from "./judge-keys.ts";
import { parseRecord } from "./stored-record.ts";

/** A set with a limit. */
export interface OpenLimit {
  readonly scope: "owner" | "tool";
  /** Key of the set of open records. */
  readonly set: string;
  readonly max: number;
}

/** The most IDs that are named in a `limit_exceeded`. */
const maxNamedTasks = 100;
/** Longer than what stands before the unique keys in a stored record. */
const headerBytes = 128;

type Judged = "open" | "undecided" | "over" | "stale";

/**
 * Throws `limit_exceeded` when one of these sets is full of records that do hold a slot. What stands there without such a record is
 * taken out, unless an attempt to create it is under way: then it is to be tried again.
 */
export const judgeSlots = async (
  context: StoreContext,
  call: Call,
  full: readonly OpenLimit[],
  record: Omit<TaskRecord, "revision">,
  tries: number,
): Promise<void> => {
  const isOwnTurn = tries >= triesForOwn;
  const isRepeated = (taskId: TaskId): boolean => isOwnTurn && taskId === record.taskId;
  for (const limit of full) {
    const count = (): Promise<number> => countOpen(context, call, limit.set, isRepeated);
    const open = await (isOwnTurn ? count() : lateCount(context, limit.set, count));
    if (open < limit.max) continue;
    const openTaskIds = await ownOpenTasks(context, call, record, limit.scope);
    throw new BridgeError("limit_exceeded", `the ${limit.scope} has ${open} open tasks of at most ${limit.max}`, {
      operation: "create",
      data: { scope: limit.scope, openTaskIds },
    });
  }
};

/** What was counted of a set, and until when that serves (milliseconds of the monotonic clock). */
interface Counted {
  readonly open: Promise<number>;
  until: number;
}

const counted = new WeakMap<StoreContext["port"], Map<string, Counted>>();

/** A count serves at least this long (milliseconds), and ten times as long as it took. */
const minServed = 1_000;

/**
 * A full set is counted once for all who are refused within a second or so: retrying clients are what a full tool has, and
 * each count reads every entry. A place that is freed meanwhile is taken without any count; only one that an attempt has left
 * which came to nothing is found that much later.
 */
const lateCount = ({ port }: StoreContext, set: string, count: () => Promise<number>): Promise<number> => {
  const sets = counted.get(port) ?? new Map<string, Counted>();
  counted.set(port, sets);
  const now = performance.now();
  const known = sets.get(set);
  if (known !== undefined && known.until > now) return known.open;
  for (const [name, { until }] of sets) if (until <= now) sets.delete(name);
  const fresh: Counted = { open: count(), until: Number.POSITIVE_INFINITY };
  sets.set(set, fresh);
  fresh.open.then(
    () => {
      const durationMs = performance.now() - now;
      fresh.until = performance.now() + Math.max(minServed, 10 * durationMs);
    },
    () => sets.delete(set),
  );
  return fresh.open;
};

const countOpen = async (
  context: StoreContext,
  call: Call,
  set: string,
  isRepeated: (taskId: TaskId) => boolean,
): Promise<number> => {
  const entries = await readNewest(context, call, set);
  const headers = await readHeaders(context, call, entries);
  const isOver = (entry: string): boolean => {
    const { taskId, attempt } = parseEntry(entry);
    return isRepeated(taskId) || deadlineOf(attempt) < context.now();
  };
  const judged = entries.map((entry, index) => ({ entry, is: judge(entry, headers[index], isOver(entry)) }));
  const of = (wanted: Judged): string[] => judged.flatMap(({ entry, is }) => (is === wanted ? [entry] : []));
  const aborted = await abort(context, call, of("over"));
  const gone = [...of("stale"), ...aborted];
  if (gone.length > 0) await context.port.send(call, [{ call: ["zrem", set, ...gone] }]);
  await putBack(context, call, set, of("stale"));
  return of("open").length;
};

/** A revision that has given a record its slot meanwhile may have entered it before we took it out. */
const putBack = async (context: StoreContext, call: Call, set: string, taken: readonly string[]): Promise<void> => {
  const headers = await readHeaders(context, call, taken);
  const open = taken.filter((entry, index) => judge(entry, headers[index], false) === "open");
  await context.port.send(
    call,
    open.map((entry) => ({ call: ["zadd", set, 0, entry] })),
  );
};

/** How the stored records begin; empty where there is none. */
const readHeaders = async (
  { port, keys }: StoreContext,
  call: Call,
  entries: readonly string[],
): Promise<readonly string[]> => {
  const commands = entries.map(
    (entry): Command => ({ call: ["getrange", keys.record(parseEntry(entry).taskId), 0, headerBytes] }),
  );
  return (await port.send(call, commands)).map(String);
};

/** `header`: see `readHeaders`. */
const judge = (entry: string, header: string | undefined, isOver: boolean): Judged => {
  const { attempt } = parseEntry(entry);
  const [, holder, , slot] = (header ?? "").split(" ");
  if (holder === attempt) return slot === "o" ? "open" : "stale";
  return isOver ? "over" : "undecided";
};

/** Those that have no record and never will. */
const abort = async ({ port, keys, now }: StoreContext, call: Call, entries: readonly string[]): Promise<string[]> => {
  const commands = entries.map((entry): Command => {
    const { taskId, attempt } = parseEntry(entry);
    return {
      script: abortScript,
      keys: [keys.record(taskId), keys.shardOf(taskId).aborted],
      args: [attempt, now()],
    };
  });
  const stored = await port.send(call, commands);
  return entries.filter((entry, index) => judge(entry, String(stored[index] ?? ""), true) === "over");
};

const readNewest = async ({ port }: StoreContext, call: Call, set: string): Promise<string[]> => {
  const [entries] = await port.send(call, [{ call: ["zrevrange", set, 0, -1] }]);
  return entries as string[];
};

/** Only the caller's own: an ID is somebody else's business, and without owners it is what grants access. Nor one that no verb takes any more. */
const ownOpenTasks = async (
  context: StoreContext,
  call: Call,
  { owner, tool }: Omit<TaskRecord, "revision">,
  scope: OpenLimit["scope"],
): Promise<TaskId[]> => {
  if (owner === null) return [];
  const entries = await readNewest(context, call, context.keys.openOfOwner(owner));
  const found: TaskId[] = [];
  for (let at = 0; at < entries.length && found.length < maxNamedTasks; at += maxNamedTasks) {
    const taskIds = entries.slice(at, at + maxNamedTasks).map((entry) => parseEntry(entry).taskId);
    const stored = await context.port.send(
      call,
      taskIds.map((taskId) => ({ call: ["get", context.keys.record(taskId)] })),
    );
    for (const text of stored) {
      if (typeof text !== "string") continue;
      const record = parseRecord(text);
      const isMeant = scope === "owner" || record.tool === tool;
      if (record.owner === owner && record.slotHeld && record.expired !== true && isMeant) found.push(record.taskId);
    }
  }
  return found.slice(0, maxNamedTasks);
};
