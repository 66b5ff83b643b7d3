import type { TaskView } from "@taskbridge/core";
import { toAccess } from "../caller.ts";
import type { Channel } from "./channel.ts";
import { firstOf } from "./first-of.ts";
import type { AskedOnce } from "./question-desk.ts";

/** Sees to it that a question is put by one client at a time, as long as it is open. */
export interface QuestionWatch {
  /** Fires when there is no point in asking on. */
  readonly over: AbortSignal;
  /** Why it fired: the question is closed or asked by another, or its client's session or this server is ending. */
  end(): QuestionEnd | undefined;
  /** The task is in this state: if its question is closed, the client hears so before it hears the end. */
  hear(view: TaskView): void;
  /** The stream to use, if there is one. */
  reach(): Channel | undefined;
  /** Without a stream: waits a little for one. A client that stays away gives others their turn. */
  returned(): Promise<"back" | "away">;
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

/** Who dies while asking keeps others from asking no longer than this (milliseconds). */
const claimMs = 30_000;
const renewMs = 10_000;
/** A client without any stream has so long to come back before another is asked (milliseconds). */
const graceMs = 10_000;

const reasons: Readonly<Record<QuestionEnd, string>> = {
  elsewhere: "the question is no longer open",
  closed: "the session has ended, or the server is being stopped",
};

export const watchQuestion = (asked: AskedOnce): QuestionWatch => {
  const { parts, by, taskId, owner, question } = asked;
  const { channels } = parts;
  const { engine, clock, log, stopping } = parts.serve;
  const ends = firstOf([parts.closed, stopping]);
  const access = toAccess(owner);
  const over = new AbortController();
  const wait = waiter(over.signal);
  let end: QuestionEnd | undefined;
  let letGo: (() => void) | undefined;

  const finish = (reason: QuestionEnd): void => {
    end ??= reason;
    over.abort(new Error(reasons[end]));
  };
  const onClosed = (): void => finish("closed");
  ends.signal.addEventListener("abort", onClosed, { once: true });
  if (ends.signal.aborted) onClosed();

  const release = async (): Promise<void> => {
    if (letGo === undefined) return;
    letGo();
    letGo = undefined;
    try {
      await engine.releaseQuestion(taskId, access, question.key, by);
    } catch (error) {
      // It lapses, since nobody renews it.
      log.warn({ err: error, taskId }, "the claim of a question could not be given back");
    }
  };
  const renew = async (): Promise<void> => {
    try {
      const { outcome } = await engine.claimQuestion(taskId, access, question.key, { by, forMs: claimMs });
      if (outcome !== "held") finish("elsewhere");
    } catch (error) {
      // The claim holds for two more turns.
      log.warn({ err: error, taskId }, "the claim of a question could not be renewed");
    }
  };
  const hear = ({ record }: TaskView): void => {
    const isOpen = record.questions.some(({ key, state }) => key === question.key && state === "open");
    if (!isOpen || record.endedAt !== undefined) finish("elsewhere");
  };
  /** Keeps the claim alive, and hears at once when the question is settled elsewhere. */
  const hold = async (): Promise<void> => {
    let isHeld = true;
    let cancel: () => void = () => {};
    const schedule = (): void => {
      cancel = clock.schedule(renewMs, () => void renew().then(() => isHeld && schedule()));
    };
    schedule();
    let unfollow: () => void = () => {};
    letGo = () => {
      isHeld = false;
      cancel();
      unfollow();
    };
    const follow = await engine.followTask(taskId, access, hear, () => finish("elsewhere"));
    unfollow = () => follow.stop();
    if (!isHeld) follow.stop();
  };
  const takeTurn = async (): Promise<Channel> => {
    for (;;) {
      over.signal.throwIfAborted();
      const channel = channels.forTask(taskId);
      if (channel === undefined) {
        await wait((resolve) => channels.onOpen(resolve));
        continue;
      }
      if (letGo !== undefined) return channel;
      const claim = await engine.claimQuestion(taskId, access, question.key, { by, forMs: claimMs });
      if (claim.outcome === "closed") finish("elsewhere");
      else if (claim.outcome === "taken") await freed(claim.until);
      else {
        await hold();
        // Settled while it was being claimed.
        if (over.signal.aborted) await release();
      }
    }
  };
  let turning: Promise<Channel> | undefined;
  /** One at a time: what is held twice is given back once. */
  const turn = (): Promise<Channel> => {
    turning ??= takeTurn().finally(() => {
      turning = undefined;
    });
    return turning;
  };
  /** Another is asking: its claim lapses, or it is given back before. */
  const freed = (until: number): Promise<void> =>
    wait((resolve) => {
      const cancel = clock.schedule(Math.min(Math.max(until - clock.now(), 1_000), claimMs), resolve);
      const listener = ({ record }: TaskView): void => {
        if (record.questions.find(({ key }) => key === question.key)?.claim === undefined) resolve();
      };
      const following = engine.followTask(taskId, access, listener, resolve);
      const unfollow = following.then(({ stop }) => stop);
      // What fails here fails again with the next claim, and is told then.
      unfollow.catch(resolve);
      return () => {
        cancel();
        unfollow.then(
          (stop) => stop(),
          () => {},
        );
      };
    });
  const returned = async (): Promise<"back" | "away"> => {
    await wait((resolve) => {
      const stops = [channels.onOpen(resolve), clock.schedule(graceMs, resolve)];
      return () => {
        for (const stop of stops) stop();
      };
    });
    if (channels.forTask(taskId) !== undefined) return "back";
    await release();
    return "away";
  };
  /** A client that has taken a question and still has a stream is not asked it again: a person takes time. */
  const lost = async (sentOn: Channel): Promise<void> => {
    await wait((resolve) => onAbort(sentOn.closed, resolve));
    const hasArrived = sentOn.isReady();
    for (;;) {
      const channel = channels.forTask(taskId);
      if (channel !== undefined && !hasArrived) return;
      if (channel !== undefined) {
        await wait((resolve) => onAbort(channel.closed, resolve));
        continue;
      }
      if ((await returned()) === "away") return;
    }
  };
  return {
    over: over.signal,
    end: () => end,
    hear,
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
      await release();
    },
  };
};

/** Waits for a signal that `subscribe` gives; returns how to stop listening. Rejects when `over` fires before. */
const waiter =
  (over: AbortSignal) =>
  (subscribe: (resolve: () => void) => () => void): Promise<void> =>
    new Promise((resolve, reject) => {
      let stop: () => void = () => {};
      const settle = (act: () => void): void => {
        stop();
        over.removeEventListener("abort", onOver);
        act();
      };
      const onOver = (): void => settle(() => reject(over.reason));
      over.addEventListener("abort", onOver, { once: true });
      stop = subscribe(() => settle(resolve));
      if (over.aborted) onOver();
    });

const onAbort = (signal: AbortSignal, act: () => void): (() => void) => {
  if (signal.aborted) queueMicrotask(act);
  else signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
};
