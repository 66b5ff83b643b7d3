import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BridgeError,
  type CreateOptions,
  maxCreateMs,
  type TaskId,
  type TaskRecord,
  type UniqueKey,
} from "@taskbridge/core/store";
import { indexKeysOf, keysInSlot } from "../keys.ts";
import { loadScript } from "../redis/load-script.ts";
import type { Call, Command } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { isWellFormed } from "../to-name.ts";
import { type Attempt, newAttempt } from "./attempt.ts";
import { hintOf } from "./due-records.ts";
import { toEntry } from "./index-entry.ts";
import { judgeKeys } from "./judge-keys.ts";
import { judgeSlots, type OpenLimit } from "./judge-slots.ts";
import { signatureOf, toStored } from "./stored-record.ts";
import { freeKey, reserveKey, toHolderText } from "./unique-keys.ts";

const createScript = loadScript("create-record");
const isReservedScript = loadScript("is-taken");
const acquireSlotScript = loadScript("take-slot");

type NewRecord = Omit<TaskRecord, "revision">;

/** One attempt and what it writes. */
interface Plan {
  readonly record: TaskRecord;
  readonly attempt: Attempt;
  readonly deadline: number;
  readonly entry: string;
  readonly limits: readonly OpenLimit[];
  readonly options: CreateOptions;
}

/**
 * Creates a record in two steps. First its places are taken, in whatever slots they are: unique keys, and one among the open records
 * of owner and tool. Then it is entered in the indexes and written. Others see a place that is taken without a record as one that is
 * not decided, and wait for it: the write decides, for it is one script in the record's own slot. What an attempt leaves that dies
 * between the steps is passed over, and taken away once its time is up; from then on the script refuses it.
 */
export const createRecord = async (
  context: StoreContext,
  call: Call,
  record: NewRecord,
  options: CreateOptions,
): Promise<TaskRecord> => {
  assertWellFormed(record.taskId);
  for (let tries = 0; ; tries++) {
    const plan = planAttempt(context, call, record, options);
    if (await acquireSlots(context, call, plan, tries)) {
      const outcome = await write(context, call, plan);
      if (outcome === "created") return plan.record;
      await undo(context, call, plan);
      if (outcome === "taken") throw inUseBy(record.taskId);
      await context.readTime();
    }
    await pause(call, tries);
  }
};

const planAttempt = (context: StoreContext, call: Call, record: NewRecord, options: CreateOptions): Plan => {
  const deadline = context.now() + Math.min(call.endsAt - performance.now(), maxCreateMs);
  const attempt = newAttempt(deadline);
  const { maxOpenForOwner, maxOpenForTool } = options;
  const { keys } = context;
  const all = [
    { scope: "owner" as const, max: maxOpenForOwner, set: keys.openOfOwner(record.owner) },
    { scope: "tool" as const, max: maxOpenForTool, set: keys.openOfTool(record.tool) },
  ];
  const limits = record.slotHeld ? all.flatMap(({ max, ...limit }) => (max === null ? [] : [{ ...limit, max }])) : [];
  return {
    record: JSON.parse(JSON.stringify({ ...record, revision: 1 })),
    attempt,
    deadline,
    entry: toEntry(record, attempt),
    limits,
    options: { ...options, uniqueKeys: withoutRepeats(options.uniqueKeys) },
  };
};

/** Of a key that is named twice, what is said last. */
const withoutRepeats = (uniqueKeys: readonly UniqueKey[]): readonly UniqueKey[] => [
  ...new Map(uniqueKeys.map((key) => [key.key, key])).values(),
];

/** True when all places are ours. False: none is, but that may be different in a moment. Throws the refusal. */
const acquireSlots = async (context: StoreContext, call: Call, plan: Plan, tries: number): Promise<boolean> => {
  const { keys } = context;
  const { record, attempt, entry, limits, options } = plan;
  const { uniqueKeys } = options;
  if (uniqueKeys.length === 0 && limits.length === 0) return true;
  const [isTaken, ...replies] = await context.port.send(call, [
    {
      script: isReservedScript,
      keys: [keys.record(record.taskId), keys.shardOf(record.taskId).removed],
      args: [record.taskId],
    },
    ...uniqueKeys.map((key) => reserveKey(keys, key, toHolderText(key, attempt, record.taskId), context.now())),
    ...limits.map(({ set, max }): Command => ({ script: acquireSlotScript, keys: [set], args: [entry, max] })),
  ]);
  const taken = uniqueKeys.flatMap(({ key }, index) => {
    const holder = replies[index];
    return typeof holder === "string" ? [{ key, holder }] : [];
  });
  const full = limits.filter((_, index) => replies[uniqueKeys.length + index] === 0);
  if (isTaken === 0 && taken.length === 0 && full.length === 0) return true;
  await undo(context, call, plan);
  // Keys before limits: a repeated call is to find its task also when the owner is full.
  const holder = isTaken === 0 ? await judgeKeys(context, call, taken, record.taskId, tries) : record.taskId;
  if (holder !== undefined) throw inUseBy(holder);
  if (taken.length === 0) await judgeSlots(context, call, full, record, tries);
  return false;
};

const write = async (context: StoreContext, call: Call, plan: Plan): Promise<unknown> => {
  const { keys } = context;
  const { record, attempt, deadline, entry, options } = plan;
  const { taskId, wakeAt } = record;
  const indexKeys = indexKeysOf(keys, record);
  const { uniqueKeys, payloads } = options;
  const text = JSON.stringify(record);
  const stored = toStored({ revision: 1, attempt, uniqueKeys, record }, text, signatureOf(indexKeys, record));
  const entering = indexKeys.flatMap((key): Command[] =>
    key === undefined ? [] : [{ call: ["zadd", key, 0, entry] }],
  );
  const create: Command = {
    script: createScript,
    keys: keysInSlot(keys, taskId),
    args: [
      taskId,
      keys.payloads(taskId),
      stored,
      attempt,
      deadline,
      entry,
      wakeAt ?? "",
      ...payloads.flatMap(({ name, bytes }) => [name, bytes]),
    ],
  };
  const replies = await context.port.send(call, entering, [create], hintOf(keys, record));
  return replies[entering.length];
};

/** Takes back what an attempt has written that is not to be. All of it bears the attempt, so that nobody else's goes. */
const undo = async (context: StoreContext, call: Call, { record, attempt, entry, options }: Plan): Promise<void> => {
  const { keys } = context;
  await context.port.send(call, [
    ...options.uniqueKeys.map((key) => freeKey(keys, key.key, toHolderText(key, attempt, record.taskId))),
    ...indexKeysOf(keys, record).flatMap((key): Command[] =>
      key === undefined ? [] : [{ call: ["zrem", key, entry] }],
    ),
  ]);
};

/** No caller mints others, and indexes hold IDs as they are. */
const assertWellFormed = (taskId: TaskId): void => {
  if (isWellFormed(taskId)) return;
  throw new BridgeError("invalid_input", "a task ID must be well-formed Unicode", { operation: "create" });
};

const inUseBy = (taskId: TaskId): BridgeError =>
  new BridgeError("conflict", `taken by task ${taskId}`, { operation: "create", data: { taskId } });

const maxPauseMs = 50;

const pause = async (call: Call, tries: number): Promise<void> => {
  // Random, so that two that are in each other's way do not keep meeting.
  const ms = Math.min(2 ** tries, maxPauseMs) * (0.5 + Math.random());
  if (performance.now() + ms >= call.endsAt) {
    throw new BridgeError("unavailable", "another create that needs the same keys or places is not decided", {
      operation: call.operation,
    });
  }
  await sleep(ms);
};
