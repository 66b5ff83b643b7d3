import { BridgeError } from "@taskbridge/core";
import type { Owner } from "./caller.ts";

/** Counts what callers have open at once, over all the transports of a server. */
export interface OwnerSlots {
  /** Takes a place and returns how to give it back. Throws `limit_exceeded`. */
  acquire(owner: Owner): () => void;
}

/** The most of a kind, by the names of the limits. */
export interface SlotLimits {
  /** What is counted, for the message: `subscriptions`. */
  readonly what: string;
  readonly perOwner: { readonly name: string; readonly max: number };
  readonly altogether: { readonly name: string; readonly max: number };
}

/** When one of the places may be free again (milliseconds). */
const retryAfterMs = 5_000;

export const createOwnerSlots = ({ what, perOwner, altogether }: SlotLimits): OwnerSlots => {
  const byOwner = new Map<Owner, number>();
  let all = 0;
  const full = ({ name, max }: SlotLimits["perOwner"]): BridgeError =>
    new BridgeError("limit_exceeded", `too many ${what} are open: limits.${name} (${max}) is reached`, {
      data: { limit: max },
      retryAfterMs,
    });
  return {
    acquire: (owner) => {
      const mine = byOwner.get(owner) ?? 0;
      if (mine >= perOwner.max) throw full(perOwner);
      if (all >= altogether.max) throw full(altogether);
      byOwner.set(owner, mine + 1);
      all += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        all -= 1;
        const left = (byOwner.get(owner) ?? 1) - 1;
        if (left === 0) byOwner.delete(owner);
        else byOwner.set(owner, left);
      };
    },
  };
};
