import type { ClaimOutcome, TaskView } from "@taskbridge/core";
import { toAccess } from "../caller.ts";
import type { AskedOnce } from "./asked-once.ts";

/** The claim of a question: whoever holds it asks, and nobody else. */
export interface QuestionClaim {
  isHeld(): boolean;
  /** Tries to get it; what it gets it keeps until it is released. Rejects when the store fails. */
  acquire(): Promise<ClaimOutcome>;
  /** Another holds it until then (epoch milliseconds): tells when that lapses or is given back. Returns how to stop. */
  onFree(until: number, listener: () => void): () => void;
  /** Gives it back, so that others may ask at once. No effect when it is not held. */
  release(): Promise<void>;
}

export interface ClaimListener {
  /** While it is held: the task as it changes. */
  observe(view: TaskView): void;
  /** The question is another's now, or gone. */
  lost(): void;
}

/** Who dies while asking keeps others from asking no longer than this (milliseconds). */
const claimMs = 30_000;
const renewMs = 10_000;

export const createQuestionClaim = (
  { parts, by, taskId, owner, question }: AskedOnce,
  { observe, lost }: ClaimListener,
): QuestionClaim => {
  const { engine, clock, log } = parts.serve;
  const access = toAccess(owner);
  let letGo: (() => void) | undefined;

  const claim = (): Promise<ClaimOutcome> => engine.claimQuestion(taskId, access, question.key, { by, forMs: claimMs });
  const renew = async (): Promise<void> => {
    try {
      const { outcome } = await claim();
      if (outcome !== "held") lost();
    } catch (error) {
      // The claim holds for two more turns.
      log.warn({ err: error, taskId }, "the claim of a question could not be renewed");
    }
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
    const follow = await engine.followTask(taskId, access, observe, lost);
    unfollow = () => follow.stop();
    if (!isHeld) follow.stop();
  };
  return {
    isHeld: () => letGo !== undefined,
    acquire: async () => {
      const claimed = await claim();
      if (claimed.outcome === "held") await hold();
      return claimed;
    },
    onFree: (until, listener) => {
      const cancel = clock.schedule(Math.min(Math.max(until - clock.now(), 1_000), claimMs), listener);
      const changed = ({ record }: TaskView): void => {
        if (record.questions.find(({ key }) => key === question.key)?.claim === undefined) listener();
      };
      const unfollow = engine.followTask(taskId, access, changed, listener).then(({ stop }) => stop);
      // What fails here fails again with the next claim, and is told then.
      unfollow.catch(listener);
      return () => {
        cancel();
        unfollow.then(
          (stop) => stop(),
          () => {},
        );
      };
    },
    release: async () => {
      if (letGo === undefined) return;
      letGo();
      letGo = undefined;
      try {
        await engine.releaseQuestion(taskId, access, question.key, by);
      } catch (error) {
        // It lapses, since nobody renews it.
        log.warn({ err: error, taskId }, "the claim of a question could not be given back");
      }
    },
  };
};
