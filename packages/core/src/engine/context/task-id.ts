import { randomBytes } from "node:crypto";
import { BridgeError } from "../../contract/bridge-error.ts";
import { asStartKey, asTaskId, type StartKey, type TaskId } from "../../contract/identity.ts";

/** Where randomness comes from, injected so that tests can repeat a run. */
export type RandomBytes = (count: number) => Uint8Array;

export const systemRandomBytes: RandomBytes = (count) => randomBytes(count);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/**
 * 160 random bits in hex. An ID may be all that guards a task, so it must not be guessable; and a person types it after a
 * command, so it must not begin with a dash.
 */
export const mintTaskId = (random: RandomBytes): TaskId => asTaskId(hex(random(20)));

/** `mcp-` and 128 random bits: fits the name rules of every backend, and tells nothing about the task. */
export const mintStartKey = (random: RandomBytes): StartKey => asStartKey(`mcp-${hex(random(16))}`);

/** Whether `mintTaskId` may have made it. */
export const isServerMinted = (taskId: string): boolean => /^[0-9a-f]{40}$/.test(taskId);

/** Takes an ID from a caller. One that no record can have is answered like an unknown one. */
export const parseTaskId = (value: unknown): TaskId => {
  if (typeof value === "string" && /^[\w.:~-]{1,256}$/.test(value)) return asTaskId(value);
  throw taskNotFound();
};

/** The answer for an unknown, foreign, malformed or purged ID: always the same. */
export const taskNotFound = (): BridgeError => new BridgeError("not_found", "Task not found");

export const taskExpired = (): BridgeError =>
  new BridgeError("not_found", "Task has expired", { data: { expired: true } });
