import { TaskClientError } from "./client-error.ts";
import { isObject } from "./is-object.ts";
import type { GivenAnswer } from "./task.ts";

interface GivenFollowing {
  readonly timeoutMs?: unknown;
  readonly questions?: unknown;
  readonly onQuestion?: unknown;
}

/** The options of a call, as far as they are checked. */
interface GivenCall extends GivenFollowing {
  readonly taskId?: unknown;
  readonly keepAliveMs?: unknown;
  readonly signal?: AbortSignal;
}

/** Throws `invalid_input` for what can be no call, `detached` for one whose signal has fired. */
export const requireCall = (tool: unknown, args: unknown, options: GivenCall): void => {
  if (typeof tool !== "string" || tool === "") throw invalid("tool", "a name is needed", tool);
  if (!isObject(args)) throw invalid("args", "an object is needed", args);
  const { taskId, keepAliveMs } = options;
  if (taskId !== undefined) requireOwnId(taskId);
  requireDuration("keepAliveMs", keepAliveMs);
  requireFollowing(options);
  if (options.signal?.aborted) {
    throw new TaskClientError("detached", "the signal had fired before the call was sent");
  }
};

export const requireFollowing = ({ timeoutMs, questions, onQuestion }: GivenFollowing): void => {
  requireDuration("timeoutMs", timeoutMs);
  if (questions === "ask" && onQuestion === undefined) throw invalid("questions", "`ask` needs onQuestion", questions);
};

/** The ID of a task, of whatever server. */
export const requireTaskId = (taskId: unknown): void => {
  if (typeof taskId !== "string" || taskId === "") throw invalid("taskId", "the ID of a task is needed", taskId);
};

/** What servers of ours take; an ID of dots alone would vanish from a path. */
const requireOwnId = (taskId: unknown): void => {
  if (typeof taskId === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(taskId) && !/^\.+$/.test(taskId)) return;
  throw invalid("taskId", "1 to 128 of A-Z a-z 0-9 _ . : - are needed, not dots alone", taskId);
};

/** What a host's own code answers a question with. */
export const requireAnswer = (answer: unknown): GivenAnswer => {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return answer as GivenAnswer;
  throw invalid("onQuestion", "an answer { action: accept, decline or cancel, content? } is needed", answer);
};

export const requireDuration = (name: string, ms: unknown): void => {
  if (ms === undefined || (typeof ms === "number" && Number.isFinite(ms) && ms >= 0)) return;
  throw invalid(name, "milliseconds, 0 or more, are needed", ms);
};

const invalid = (name: string, need: string, got: unknown): TaskClientError =>
  new TaskClientError("invalid_input", `${name}: ${need}, got ${String(JSON.stringify(got)).slice(0, 80)}`);
