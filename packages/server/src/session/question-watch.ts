import type { TaskView } from "@taskbridge/core";
import type { AskedOnce } from "./asked-once.ts";
import type { Channel } from "./channel.ts";
import { firstOf } from "./first-of.ts";
import { createQuestionClaim } from "./question-claim.ts";
import { createWaiter, onAbort } from "./waiter.ts";

/** Sees to it that a question is put by one client at a time, as long as it is open. */
export interface QuestionWatch {
  /** Fires when there is no point in asking on. */
  readonly over: AbortSignal;
  /** Why it fired: the question is closed or asked by another, or its client's session or this server is ending. */
  end(): QuestionEnd | undefined;
  /** The task is in this state: if its question is closed, the client hears so before it hears the end. */
  observe(view: TaskView): void;
  /** The stream to use, if there is one. */
  reach(): Channel | undefined;
  /** Without a stream: waits a little for one. A client that stays away gives others their turn. */
  returned(): Promise<"back" | "gone">;
  /** Waits until there is a stream and the question is this client's to be asked. Rejects when the watch is over. */
  turn(): Promise<Channel>;
  /** Resolves when what was sent on a stream must be sent again: it never arrived, or the client was away meanwhile. */
  lost(channel: Channel): Promise<void>;
  /** Has nothing left to ask, but keeps others from asking until the watch is over, and rejects then. */
  keep(): Promise<never>;
  /** Others may ask it from now on. */
  stop(): Promise<void>;
}

export type QuestionEnd = "elsewhere" | "closed";

/** How long a client without any stream has to come back before another is asked (milliseconds). */
const graceMs = 10_000;
/** A person who has a question before them is not shown it again by the same client sooner than this (milliseconds). */
const dialogMs = 300_000;

const reasons: Readonly<Record<QuestionEnd, string>> = {
  elsewhere: "the question is no longer open",
  closed: "the session has ended, or the server is being stopped",
};

export const watchQuestion = (asked: AskedOnce): QuestionWatch => {
  const { parts, taskId, question } = asked;
  const { channels } = parts;
  const { clock, stopping } = parts.serve;
  const ends = firstOf([parts.closed, stopping]);
  const over = new AbortController();
  const wait = createWaiter(over.signal);
  let end: QuestionEnd | undefined;

  const finish = (reason: QuestionEnd): void => {
    end ??= reason;
    over.abort(new Error(reasons[end]));
  };
  const onClosed = (): void => finish("closed");
  ends.signal.addEventListener("abort", onClosed, { once: true });
  if (ends.signal.aborted) onClosed();

  const observe = ({ record }: TaskView): void => {
    const isOpen = record.questions.some(({ key, state }) => key === question.key && state === "open");
    if (!isOpen || record.endedAt !== undefined) finish("elsewhere");
  };
  const claim = createQuestionClaim(asked, { observe, lost: () => finish("elsewhere") });
  const runTurn = async (): Promise<Channel> => {
    for (;;) {
      over.signal.throwIfAborted();
      const channel = channels.forTask(taskId);
      if (channel === undefined) {
        await wait((resolve) => channels.onOpen(resolve));
        continue;
      }
      if (claim.isHeld()) return channel;
      const claimed = await claim.acquire();
      if (claimed.outcome === "closed") finish("elsewhere");
      else if (claimed.outcome === "taken") await wait((resolve) => claim.onFree(claimed.until, resolve));
      // Settled while it was being claimed.
      else if (over.signal.aborted) await claim.release();
    }
  };
  let turning: Promise<Channel> | undefined;
  /** One at a time: what is held twice is given back once. */
  const turn = (): Promise<Channel> => {
    turning ??= runTurn().finally(() => {
      turning = undefined;
    });
    return turning;
  };
  const returned = async (): Promise<"back" | "gone"> => {
    await wait((resolve) => {
      const stops = [channels.onOpen(resolve), clock.schedule(graceMs, resolve)];
      return () => {
        for (const stop of stops) stop();
      };
    });
    if (channels.forTask(taskId) !== undefined) return "back";
    await claim.release();
    return "gone";
  };
  /**
   * A client that has taken a question is not asked it again while it has a stream, nor when it comes back soon: a person
   * takes time, and a host whose call was answered meanwhile has lost nothing. Others may ask while it is away.
   */
  const lost = async (sentOn: Channel): Promise<void> => {
    const askAgainAt = clock.now() + dialogMs;
    await wait((resolve) => onAbort(sentOn.closed, resolve));
    const hasArrived = sentOn.isReady();
    for (;;) {
      const channel = channels.forTask(taskId);
      if (channel !== undefined && !hasArrived) return;
      if (channel !== undefined) {
        await wait((resolve) => onAbort(channel.closed, resolve));
        continue;
      }
      if ((await returned()) === "back") continue;
      if (!hasArrived) return;
      await turn();
      if (clock.now() >= askAgainAt) return;
    }
  };
  return {
    over: over.signal,
    end: () => end,
    observe,
    reach: () => channels.forTask(taskId),
    returned,
    turn,
    lost,
    keep: async () => {
      await wait(() => () => {});
      throw over.signal.reason;
    },
    stop: async () => {
      ends.release();
      over.abort(new Error("the question is settled"));
      await claim.release();
    },
  };
};
