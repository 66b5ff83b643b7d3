import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { createRecentSet } from "../recent-set.ts";
import { toSessionName } from "../session/call-origin.ts";
import { type HttpSession, openHttpSession } from "./http-session.ts";
import { type Introduction, mintSessionId, readSessionId } from "./session-id.ts";
import { createSessionTable, type SessionTable } from "./session-table.ts";

/** The sessions that this process serves, wherever they have begun. */
export interface SessionOpener extends Pick<SessionTable<HttpSession>, "all" | "close"> {
  /** Serves the first request of a new session. Throws `limit_exceeded` when there is no room. */
  begin(
    owner: Owner,
    introduction: Introduction,
    serve: (session: HttpSession) => Promise<Response>,
  ): Promise<Response>;
  /**
   * The session of this ID: one that is served here, or that has begun elsewhere or has made room here, and is revived.
   * Someone else's is none, nor is one that has been ended here. Rejects with `limit_exceeded` when there is no room.
   */
  find(id: string, owner: Owner): Promise<HttpSession | undefined>;
  /** Its client wants no more of it: here it is not revived. False: there is none. */
  forget(id: string, owner: Owner): boolean;
}

/** Of the sessions that were ended by their clients, so many are remembered. */
const maxForgotten = 10_000;

export const createSessionOpener = (context: ListenContext): SessionOpener => {
  const { sealer, clock, log } = context.serve;
  const table = createSessionTable<HttpSession>(context.limits, clock);
  const reviving = new Map<string, Promise<HttpSession>>();
  /** By name. */
  const forgotten = createRecentSet<string>(maxForgotten);

  const read = (id: string, owner: Owner): Introduction | undefined =>
    forgotten.has(toSessionName(id)) ? undefined : readSessionId(sealer, owner, id);
  const revive = async (id: string, owner: Owner, introduction: Introduction): Promise<HttpSession> => {
    const slot = table.reserve(owner);
    let session: HttpSession | undefined;
    try {
      session = await openHttpSession(context, { owner, id, slot, ended: table.remove });
      await session.revive(introduction);
      log.debug({ session: toSessionName(id) }, "a session goes on here");
      return session;
    } catch (error) {
      await session?.close();
      throw error;
    } finally {
      slot.giveUp();
    }
  };
  return {
    all: table.all,
    close: table.close,
    begin: async (owner, introduction, serve) => {
      const slot = table.reserve(owner);
      try {
        const id = mintSessionId(sealer, owner, introduction);
        const session = await openHttpSession(context, { owner, id, slot, ended: table.remove });
        const response = await serve(session);
        if (!session.hasBegun()) await session.close();
        return response;
      } finally {
        slot.giveUp();
      }
    },
    find: async (id, owner) => {
      const introduction = read(id, owner);
      // Whoever comes while it is revived waits as well: before that the SDK knows nobody.
      if (introduction !== undefined && reviving.has(id)) return reviving.get(id);
      const kept = table.find(id, owner);
      if (kept !== undefined || introduction === undefined) return kept;
      // What was refused once is tried again by whoever comes next.
      const revived = revive(id, owner, introduction).finally(() => reviving.delete(id));
      reviving.set(id, revived);
      return revived;
    },
    forget: (id, owner) => {
      if (read(id, owner) === undefined) return false;
      forgotten.add(toSessionName(id));
      return true;
    },
  };
};
