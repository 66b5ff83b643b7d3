import { asTaskId, type TaskId, type UniqueKey } from "@taskbridge/core/store";
import type { Keys } from "../keys.ts";
import { loadScript } from "../redis/load-script.ts";
import type { Command } from "../redis/redis-port.ts";
import type { Attempt } from "./attempt.ts";

/**
 * What is kept under a unique key: a line, then the ID of the task. `<state> <attempt> <until> <heldForMs> <held until>`, with `-`
 * for what is not there. States: `h` held, or about to be; `r` its record is being removed; `g` its record is gone.
 *
 * It carries no time to live: under memory pressure Redis may take what does, and with it the promise that an ID is used once.
 */
export interface KeyHolder {
  readonly state: "h" | "r" | "g";
  readonly attempt: Attempt;
  readonly until: number | undefined;
  /** Epoch milliseconds until which it outlives its record; undefined unless the record is removed. */
  readonly heldUntil: number | undefined;
  readonly taskId: TaskId;
}

const takeScript = loadScript("take-key");
const freeScript = loadScript("free-key");
const leaveScript = loadScript("leave-key");

const optional = (value: number | undefined): string => (value === undefined ? "-" : String(value));

/** What an attempt keeps under a key. */
export const toHolderText = ({ until, heldForMs }: UniqueKey, attempt: Attempt, taskId: TaskId): string =>
  `h ${attempt} ${optional(until)} ${optional(heldForMs)} -\n${taskId}`;

export const parseHolder = (text: string): KeyHolder => {
  const end = text.indexOf("\n");
  const [state, attempt = "", until, , heldUntil] = text.slice(0, end).split(" ");
  const instant = (part: string | undefined): number | undefined =>
    part === undefined || part === "-" ? undefined : Number(part);
  return {
    state: state === "r" || state === "g" ? state : "h",
    attempt,
    until: instant(until),
    heldUntil: instant(heldUntil),
    taskId: asTaskId(text.slice(end + 1)),
  };
};

export const reserveKey = (keys: Keys, key: UniqueKey, text: string, now: number): Command => ({
  script: takeScript,
  keys: [keys.unique(key.key), keys.lapsing(key.key)],
  args: [text, key.until ?? "", now],
});

export const freeKey = (keys: Keys, key: string, seen: string): Command => ({
  script: freeScript,
  keys: [keys.unique(key), keys.lapsing(key)],
  args: [seen],
});

export const leaveKey = (keys: Keys, key: string, attempt: Attempt, step: "hold" | "end", now: number): Command => ({
  script: leaveScript,
  keys: [keys.unique(key), keys.lapsing(key)],
  args: [attempt, step, now],
});
