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

/** The sessions of clients of the 2025 revisions: bounded in number, and in the time they last without being used. */
export interface SessionTable<Session extends KeptSession> {
  /** The session, used just now. Someone else's is none. */
  find(id: string, owner: Owner): Session | undefined;
  /** Makes room if need be. Throws `limit_exceeded` when every other session is in use. */
  requireRoom(owner: Owner): void;
  add(id: string, session: Session): void;
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
  const byOwner = new Map<Owner, number>();
  let cancelSweep: (() => void) | undefined;

  const remove = (id: string): void => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    const { owner } = entry.session;
    const left = (byOwner.get(owner) ?? 1) - 1;
    if (left === 0) byOwner.delete(owner);
    else byOwner.set(owner, left);
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
    requireRoom: (owner) => {
      const { maxSessions, maxSessionsPerOwner } = limits;
      if ((byOwner.get(owner) ?? 0) >= maxSessionsPerOwner && !endOldest((session) => session.owner === owner)) {
        throw full("maxSessionsPerOwner", maxSessionsPerOwner);
      }
      if (entries.size >= maxSessions && !endOldest(() => true)) throw full("maxSessions", maxSessions);
    },
    add: (id, session) => {
      entries.set(id, { session, usedAt: clock.now() });
      byOwner.set(session.owner, (byOwner.get(session.owner) ?? 0) + 1);
      sweepLater();
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
