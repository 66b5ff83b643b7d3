import { BridgeError, type Clock } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { WireLimits } from "../server-limits.ts";

/** One session as the table keeps it. */
export interface KeptSession {
  readonly owner: Owner;
  /** Nothing of it is open at present, so that it may be ended to make room. */
  isIdle(): boolean;
  end(): void;
}

/** Room for a session that is about to begin: many may come at once. */
export interface SessionSlot<Session extends KeptSession> {
  fill(id: string, session: Session): void;
  /** Does nothing once it is taken. */
  giveUp(): void;
}

/** The sessions of clients of the 2025 revisions: bounded in number, and in the time they last without being used. */
export interface SessionTable<Session extends KeptSession> {
  /** The session, used just now. Someone else's is none. */
  find(id: string, owner: Owner): Session | undefined;
  /** Makes room if need be, for a session of this owner. Throws `limit_exceeded` when every other session is in use. */
  reserve(owner: Owner): SessionSlot<Session>;
  remove(id: string): void;
  all(): readonly Session[];
  close(): void;
}

interface Entry<Session> {
  readonly session: Session;
  usedAt: number;
}

type SessionLimits = Pick<WireLimits, "maxSessions" | "maxSessionsPerOwner" | "sessionIdleMs">;

export const createSessionTable = <Session extends KeptSession>(
  limits: SessionLimits,
  clock: Clock,
): SessionTable<Session> => {
  /** Least recently used first. */
  const entries = new Map<string, Entry<Session>>();
  /** These two count places that are not taken yet as well. */
  const byOwner = new Map<Owner, number>();
  let slots = 0;
  let cancelSweep: (() => void) | undefined;

  const release = (owner: Owner): void => {
    slots--;
    const left = (byOwner.get(owner) ?? 1) - 1;
    if (left === 0) byOwner.delete(owner);
    else byOwner.set(owner, left);
  };
  const remove = (id: string): void => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    release(entry.session.owner);
  };
  const end = (id: string, { session }: Entry<Session>): void => {
    remove(id);
    session.end();
  };
  const sweep = (): void => {
    cancelSweep = undefined;
    const now = clock.now();
    for (const [id, entry] of entries) {
      if (!entry.session.isIdle()) entry.usedAt = now;
      else if (now - entry.usedAt >= limits.sessionIdleMs) end(id, entry);
    }
    sweepLater();
  };
  const sweepLater = (): void => {
    if (entries.size === 0) return;
    cancelSweep ??= clock.schedule(Math.max(1_000, Math.ceil(limits.sessionIdleMs / 4)), sweep);
  };
  const endOldest = (isCandidate: (session: Session) => boolean): boolean => {
    for (const [id, entry] of entries) {
      if (!entry.session.isIdle() || !isCandidate(entry.session)) continue;
      end(id, entry);
      return true;
    }
    return false;
  };
  return {
    find: (id, owner) => {
      const entry = entries.get(id);
      if (entry === undefined || entry.session.owner !== owner) return undefined;
      entry.usedAt = clock.now();
      entries.delete(id);
      entries.set(id, entry);
      return entry.session;
    },
    reserve: (owner) => {
      const { maxSessions, maxSessionsPerOwner } = limits;
      if ((byOwner.get(owner) ?? 0) >= maxSessionsPerOwner && !endOldest((session) => session.owner === owner)) {
        throw full("maxSessionsPerOwner", maxSessionsPerOwner);
      }
      if (slots >= maxSessions && !endOldest(() => true)) throw full("maxSessions", maxSessions);
      slots++;
      byOwner.set(owner, (byOwner.get(owner) ?? 0) + 1);
      let isOpen = true;
      return {
        fill: (id, session) => {
          isOpen = false;
          entries.set(id, { session, usedAt: clock.now() });
          sweepLater();
        },
        giveUp: () => {
          if (isOpen) release(owner);
          isOpen = false;
        },
      };
    },
    remove,
    all: () => [...entries.values()].map(({ session }) => session),
    close: () => {
      cancelSweep?.();
      for (const [id, entry] of [...entries]) end(id, entry);
    },
  };
};

const full = (name: string, limit: number): BridgeError =>
  new BridgeError("limit_exceeded", `too many sessions are in use: limits.${name} (${limit}) is reached`, {
    data: { limit },
    retryAfterMs: 1_000,
  });
