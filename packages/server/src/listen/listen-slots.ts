import { BridgeError } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { WireLimits } from "../server-limits.ts";

/** Counts the open subscriptions of a server, over all its transports. */
export interface ListenSlots {
  /** Takes a place and returns how to give it back. Throws `limit_exceeded`. */
  take(owner: Owner): () => void;
}

export const listenSlots = (limits: WireLimits): ListenSlots => {
  const byOwner = new Map<Owner, number>();
  let all = 0;
  return {
    take: (owner) => {
      const mine = byOwner.get(owner) ?? 0;
      if (mine >= limits.maxListenStreamsPerOwner)
        throw full("maxListenStreamsPerOwner", limits.maxListenStreamsPerOwner);
      if (all >= limits.maxListenStreams) throw full("maxListenStreams", limits.maxListenStreams);
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

const full = (name: string, limit: number): BridgeError =>
  new BridgeError("limit_exceeded", `too many subscriptions are open: limits.${name} (${limit}) is reached`, {
    data: { limit },
  });
