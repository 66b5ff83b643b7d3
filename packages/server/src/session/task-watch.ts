import type { TaskView } from "@taskbridge/core";
import { progressMethod, toProgress } from "@taskbridge/protocol/no-tasks";
import {
  relatedTask,
  type SessionCapabilities,
  type Task,
  toCreateResult,
  toStatusNotification,
  toTask,
} from "@taskbridge/protocol/tasks-2025-11-25";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";
import { isOfSession } from "./call-origin.ts";
import type { Channel } from "./channel.ts";
import type { ClientLink } from "./client-link.ts";
import { createOwnStreamFollower } from "./own-stream-follower.ts";
import type { QuestionDispatcher } from "./question-dispatcher.ts";
import type { SessionChannels } from "./session-channels.ts";
import { toTaskOptions } from "./to-task-options.ts";

/** Tells one client about the tasks it has to do with, on whatever stream it has open, until they end. */
export interface TaskWatch {
  /** A call is just being answered with this task: nothing is told before that. `progressToken`: of the call. */
  begin(view: TaskView, owner: Owner, progressToken: string | number | undefined): void;
  /** The client has just been shown this state. */
  remember(view: TaskView, owner: Owner): void;
  /** The client waits for this task without being shown its state: what it has not seen before is still told. */
  attend(view: TaskView, owner: Owner): void;
  /** The session's own stream is here: its open tasks are followed as well that other replicas have taken in. */
  adopt(view: TaskView, owner: Owner): void;
  /** Something has heard of this state: the client is told what it has not seen. */
  observe(view: TaskView, owner: Owner): void;
}

export interface WatchParts {
  readonly serve: ServeContext;
  readonly link: ClientLink;
  readonly channels: SessionChannels;
  readonly dispatcher: QuestionDispatcher;
  readonly capabilities: () => SessionCapabilities;
  /** As in `Session2025`. */
  readonly name: string | undefined;
  readonly closed: AbortSignal;
}

interface Watched {
  readonly owner: Owner;
  token: string | number | undefined;
  progress: number;
  /** What the client knows. */
  shown: string;
  status: Task["status"];
  reportedAt: number;
  latest: TaskView | undefined;
  cancelTimer: (() => void) | undefined;
}

/** News of the same status are told at most this often (milliseconds), and tried again as late when the client is slow. */
const throttleMs = 1_000;
/** A change of status is tried again sooner: two messages at once are no sign of a slow client. */
const retryMs = 100;
/** The most tasks that a session follows; of the others it still gets everything that it asks for. */
const maxWatched = 200;

export const createTaskWatch = (parts: WatchParts): TaskWatch => {
  const { serve, link, channels, dispatcher, capabilities, name, closed } = parts;
  const watched = new Map<string, Watched>();
  /** What the answers say that are just going out: a client may wait for such a task before it is followed. */
  const handedOut = new Map<string, Task>();

  const show = (view: TaskView): Task =>
    toTask(view, toTaskOptions(serve, { capabilities, hasGivenUp: dispatcher.hasGivenUp }, view.record));
  const drop = (taskId: string): void => {
    watched.get(taskId)?.cancelTimer?.();
    watched.delete(taskId);
    handedOut.delete(taskId);
    follower.forget(taskId);
  };
  const report = (error: unknown): void => serve.log.debug({ err: error }, "a client could not be told about a task");

  const notify = (taskId: string, entry: Watched, view: TaskView, { on }: Channel): void => {
    const task = show(view);
    const shown = toShown(task);
    if (shown === entry.shown) return;
    entry.shown = shown;
    entry.status = task.status;
    entry.reportedAt = serve.clock.now();
    const { token } = entry;
    if (token !== undefined && !hasEnded(view)) {
      const params = toProgress(view.record, token, entry.progress);
      entry.progress = params.progress;
      link.notify(progressMethod, { ...params, _meta: relatedTask(taskId) }, on).catch(report);
    }
    const { method, params } = toStatusNotification(task);
    link.notify(method, params, on).catch(report);
  };
  /** Tells the newest state when its time has come; before that, states replace each other. */
  const flush = (taskId: string): void => {
    const entry = watched.get(taskId);
    const view = entry?.latest;
    if (entry === undefined || view === undefined) return;
    const channel = channels.forTask(taskId);
    if (channel === undefined) return;
    const isEnd = hasEnded(view);
    const isTurn = isEnd || show(view).status !== entry.status;
    const waitMs = isTurn ? 0 : entry.reportedAt + throttleMs - serve.clock.now();
    // An end is told once and at once, or the answer of who waits for it would pass it.
    if (waitMs > 0 || (!isEnd && !channel.isReady())) {
      entry.cancelTimer ??= serve.clock.schedule(waitMs > 0 ? waitMs : isTurn ? retryMs : throttleMs, () => {
        entry.cancelTimer = undefined;
        flush(taskId);
      });
      return;
    }
    entry.latest = undefined;
    notify(taskId, entry, view, channel);
    if (isEnd) drop(taskId);
  };
  const observe: TaskWatch["observe"] = (view, owner) => {
    const { taskId } = view.record;
    dispatcher.notice(view, owner);
    const entry = watched.get(taskId);
    if (entry === undefined) return;
    entry.latest = view;
    flush(taskId);
  };
  const follower = createOwnStreamFollower({ serve, channels, closed, observe, gone: drop });
  closed.addEventListener(
    "abort",
    () => {
      for (const taskId of [...watched.keys()]) drop(taskId);
    },
    { once: true },
  );
  const keep = (taskId: string, entry: Watched): void => {
    watched.delete(taskId);
    watched.set(taskId, entry);
    const [oldest] = watched.keys();
    if (watched.size > maxWatched && oldest !== undefined) drop(oldest);
    follower.keep(taskId, entry.owner);
  };
  return {
    begin: (view, owner, progressToken) => {
      const { taskId } = view.record;
      const { task } = toCreateResult(view);
      handedOut.set(taskId, task);
      // The answer goes out in the promises that settle before this: where there is but one stream, nothing may pass it.
      setImmediate(() => {
        // A busy process comes here late: whoever waits for the task may have heard of its end by now.
        if (handedOut.get(taskId) !== task || closed.aborted) return;
        handedOut.delete(taskId);
        const entry = watched.get(taskId) ?? newEntry(owner, task);
        entry.token ??= progressToken;
        keep(taskId, entry);
      });
    },
    remember: (view, owner) => {
      const { taskId } = view.record;
      if (hasEnded(view) || closed.aborted) return drop(taskId);
      const task = show(view);
      const entry = watched.get(taskId) ?? newEntry(owner, task);
      entry.shown = toShown(task);
      entry.status = task.status;
      keep(taskId, entry);
    },
    attend: (view, owner) => {
      const { taskId } = view.record;
      if (hasEnded(view) || closed.aborted) return;
      keep(taskId, watched.get(taskId) ?? newEntry(owner, handedOut.get(taskId) ?? show(view)));
    },
    adopt: (view, owner) => {
      const { taskId, origin, effects } = view.record;
      if (hasEnded(view) || closed.aborted || name === undefined || !isOfSession(origin, name)) return;
      // Its call may not have been answered yet, and nothing is told before that.
      if (effects.some(({ kind }) => kind === "start")) return;
      // Of other calls than those that ask for a task, their client hears nothing but what is asked.
      if (origin !== name) return observe(view, owner);
      if (watched.has(taskId) || handedOut.has(taskId)) return;
      keep(taskId, newEntry(owner, toCreateResult(view).task));
    },
    observe,
  };
};

/** Intervals change by themselves, which is no news. */
const toShown = ({ status, statusMessage, ttl }: Task): string => JSON.stringify([status, statusMessage, ttl]);

const newEntry = (owner: Owner, task: Task): Watched => ({
  owner,
  token: undefined,
  progress: 0,
  shown: toShown(task),
  status: task.status,
  reportedAt: 0,
  latest: undefined,
  cancelTimer: undefined,
});
