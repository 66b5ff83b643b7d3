import type { TaskId } from "@taskbridge/core/store";
import { loadScript } from "../redis/load-script.ts";
import type { Call, Command, Script } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { deadlineOf } from "./attempt.ts";
import { parseStored } from "./stored-record.ts";
import { freeKey, type KeyHolder, parseHolder } from "./unique-keys.ts";

export const abortScript: Script = loadScript("abort-attempt");

/** A key that somebody else has, and what is kept under it. */
export interface ConflictingKey {
  readonly key: string;
  readonly holder: string;
}

/** After so many tries an attempt for the same ID is taken for one whose answer was lost, and that now is repeated. */
export const triesForOwn = 4;

/**
 * Who really has one of these keys; undefined when nobody does for sure. Frees those whose holder never came to be: they are to be tried
 * again.
 */
export const judgeKeys = async (
  context: StoreContext,
  call: Call,
  taken: readonly ConflictingKey[],
  ownId: TaskId,
  tries: number,
): Promise<TaskId | undefined> => {
  for (const { key, holder: text } of taken) {
    const holder = parseHolder(text);
    if (isHeldAnyway(holder, context.now())) return holder.taskId;
    const isRepeated = holder.taskId === ownId && tries >= triesForOwn;
    const isOver = holder.state !== "h" || isRepeated || deadlineOf(holder.attempt) < context.now();
    const stored = await readOrAbort(context, call, holder, isOver);
    if (stored !== undefined && parseStored(stored).attempt === holder.attempt) return holder.taskId;
    if (isOver) await context.port.send(call, [freeKey(context.keys, key, text)]);
  }
  return undefined;
};

/** Whether or not there is a record. */
const isHeldAnyway = ({ state, until, heldUntil }: KeyHolder, now: number): boolean =>
  state !== "h" && Math.max(until ?? 0, heldUntil ?? 0) > now;

/** The record of a holder. Where there is none, an attempt that is over is kept from writing one. */
const readOrAbort = async (
  { port, keys, now }: StoreContext,
  call: Call,
  { taskId, attempt }: KeyHolder,
  isOver: boolean,
): Promise<string | undefined> => {
  const record = keys.record(taskId);
  const abort: Command = { script: abortScript, keys: [record, keys.shardOf(taskId).aborted], args: [attempt, now()] };
  const [stored] = await port.send(call, [isOver ? abort : { call: ["get", record] }]);
  return typeof stored === "string" ? stored : undefined;
};
