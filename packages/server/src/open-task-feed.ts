import type { Clock, TaskEngine, TaskView } from "@taskbridge/core";
import { type Owner, toAccess } from "./caller.ts";
import type { ServerLog } from "./server-log.ts";

/** Looks at the open tasks of owners, for sessions that do not know all of theirs: other replicas take in calls as well. */
export interface OpenTaskFeed {
  /** Calls `listener` with the open tasks of this owner, now and every ten seconds. Returns how to stop. */
  follow(owner: Owner, listener: (views: readonly TaskView[]) => void): () => void;
}

export interface OpenTaskFeedParts {
  readonly engine: TaskEngine;
  readonly clock: Clock;
  readonly log: ServerLog;
  /** Other processes may write to the store, so that one look is not enough. */
  readonly isShared: boolean;
}

const everyMs = 10_000;
/** So many are looked at; who has more is told of the others when it asks for them. */
const max = 100;

interface Followed {
  readonly listeners: Set<(views: readonly TaskView[]) => void>;
  cancel: () => void;
}

/** One look for all the sessions of an owner. */
export const createOpenTaskFeed = ({ engine, clock, log, isShared }: OpenTaskFeedParts): OpenTaskFeed => {
  const followed = new Map<Owner, Followed>();

  const poll = async (owner: Owner): Promise<readonly TaskView[]> => {
    try {
      return (await engine.listTasks(toAccess(owner), { slotHeld: true }, undefined, max)).tasks;
    } catch (error) {
      log.debug({ err: error }, "the open tasks of an owner could not be listed");
      return [];
    }
  };
  const pollAgain = async (owner: Owner, entry: Followed): Promise<void> => {
    const views = await poll(owner);
    for (const listener of [...entry.listeners]) listener(views);
    if (isShared && entry.listeners.size > 0)
      entry.cancel = clock.schedule(everyMs, () => void pollAgain(owner, entry));
  };
  return {
    follow: (owner, listener) => {
      // Nobody can tell their tasks apart.
      if (owner === null) return () => {};
      const known = followed.get(owner);
      const entry = known ?? { listeners: new Set(), cancel: () => {} };
      followed.set(owner, entry);
      entry.listeners.add(listener);
      if (known === undefined) void pollAgain(owner, entry);
      else void poll(owner).then((views) => entry.listeners.has(listener) && listener(views));
      return () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size > 0) return;
        entry.cancel();
        if (followed.get(owner) === entry) followed.delete(owner);
      };
    },
  };
};
