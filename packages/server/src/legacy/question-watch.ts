import { toAccess } from "../caller.ts";
import type { Channel } from "./channel.ts";
import type { AskedOnce } from "./question-desk.ts";

/** Follows an open question while it is put to a client, and keeps the claim to it. */
export interface QuestionWatch {
  /** Fires when there is no point in asking on. */
  readonly over: AbortSignal;
  /** Why it fired: the question is closed or asked by another; the client has no stream open; its session has ended. */
  end(): QuestionEnd | undefined;
  /** The stream for the next message. Waits a little for one; without any the watch is over. */
  channel(): Promise<Channel>;
  stop(): void;
}

export type QuestionEnd = "elsewhere" | "lost" | "closed";

/** Who dies while asking keeps others from asking no longer than this (milliseconds). */
export const claimMs = 30_000;
export const renewMs = 10_000;
/** A client that has lost its stream has so long to come back, or to answer without one (milliseconds). */
export const graceMs = 10_000;

const reasons: Readonly<Record<QuestionEnd, string>> = {
  elsewhere: "the question is no longer open",
  lost: "the client is not connected",
  closed: "the session has ended",
};

export const watchQuestion = async (asked: AskedOnce): Promise<QuestionWatch> => {
  const { parts, taskId, owner, question } = asked;
  const over = new AbortController();
  let end: QuestionEnd | undefined;
  const finish = (reason: QuestionEnd): void => {
    end ??= reason;
    over.abort(new Error(reasons[end]));
  };
  const onClosed = (): void => finish("closed");
  parts.closed.addEventListener("abort", onClosed, { once: true });
  if (parts.closed.aborted) onClosed();
  const stopRenewing = keepClaim(asked, () => finish("elsewhere"));
  const stop = (): void => {
    parts.closed.removeEventListener("abort", onClosed);
    stopRenewing();
  };
  try {
    const follow = await parts.serve.engine.followTask(
      taskId,
      toAccess(owner),
      ({ record }) => {
        const isOpen = record.questions.some(({ key, state }) => key === question.key && state === "open");
        if (!isOpen || record.endedAt !== undefined) finish("elsewhere");
      },
      () => finish("elsewhere"),
    );
    return {
      over: over.signal,
      end: () => end,
      channel: () => nextChannel(asked, over.signal, () => finish("lost")),
      stop: () => {
        stop();
        follow.stop();
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
};

const keepClaim = ({ parts, by, taskId, owner, question }: AskedOnce, lost: () => void): (() => void) => {
  const { engine, clock } = parts.serve;
  let isStopped = false;
  let cancel: () => void = () => {};
  const renew = async (): Promise<void> => {
    try {
      const { outcome } = await engine.claimQuestion(taskId, toAccess(owner), question.key, { by, forMs: claimMs });
      if (outcome !== "held") return lost();
    } catch (error) {
      // The claim holds for two more turns.
      parts.serve.log.warn({ err: error, taskId }, "the claim of a question could not be renewed");
    }
    schedule();
  };
  const schedule = (): void => {
    if (!isStopped) cancel = clock.schedule(renewMs, () => void renew());
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
};

const nextChannel = (
  { parts: { channels, serve }, taskId }: AskedOnce,
  over: AbortSignal,
  lost: () => void,
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const settle = (act: () => void): void => {
      for (const stop of stops.splice(0)) stop();
      act();
    };
    const take = (): void => {
      const channel = channels.forTask(taskId);
      if (channel !== undefined) settle(() => resolve(channel));
    };
    const onOver = (): void => settle(() => reject(over.reason));
    if (over.aborted) return onOver();
    over.addEventListener("abort", onOver, { once: true });
    stops.push(
      () => over.removeEventListener("abort", onOver),
      channels.onOpen(take),
      serve.clock.schedule(graceMs, lost),
    );
    take();
  });
