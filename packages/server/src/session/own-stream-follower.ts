import { isBridgeError, type TaskView } from "@taskbridge/core";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "./channel.ts";
import type { SessionChannels } from "./session-channels.ts";

/** Follows tasks while their session's own stream is open, where changes can be told that nobody asks for. */
export interface OwnStreamFollower {
  /** Follows it whenever the stream is open. */
  keep(taskId: string, owner: Owner): void;
  forget(taskId: string): void;
}

export interface FollowerParts {
  readonly serve: ServeContext;
  readonly channels: SessionChannels;
  /** The session has ended. */
  readonly closed: AbortSignal;
  /** A task that is followed has changed. */
  observe(view: TaskView, owner: Owner): void;
  /** There is no such task any more. */
  gone(taskId: string): void;
}

interface Kept {
  readonly owner: Owner;
  unfollow: (() => void) | undefined;
}

export const createOwnStreamFollower = (parts: FollowerParts): OwnStreamFollower => {
  const { serve, channels, closed, observe, gone } = parts;
  const kept = new Map<string, Kept>();

  const follow = async (taskId: string, entry: Kept): Promise<void> => {
    if (entry.unfollow !== undefined) return;
    let isOver = false;
    let stop: () => void = () => {};
    entry.unfollow = () => {
      isOver = true;
      entry.unfollow = undefined;
      stop();
    };
    try {
      const listener = (view: TaskView): void => {
        if (isOver) return;
        observe(view, entry.owner);
        // Where nobody tells that the stream has closed.
        if (channels.own() === undefined) entry.unfollow?.();
      };
      const followed = await serve.engine.followTask(taskId, toAccess(entry.owner), listener, () => gone(taskId));
      stop = followed.stop;
      if (isOver) stop();
    } catch (error) {
      entry.unfollow = undefined;
      if (isBridgeError(error) && error.code === "not_found") gone(taskId);
      else serve.log.debug({ err: error, taskId }, "a task could not be followed");
    }
  };
  const attend = (own: Channel): void => {
    const unfollowAll = (): void => {
      if (channels.own() !== undefined) return;
      for (const entry of kept.values()) entry.unfollow?.();
    };
    own.closed.addEventListener("abort", unfollowAll, { once: true });
    for (const [taskId, entry] of kept) void follow(taskId, entry);
  };
  let attended: Channel | undefined;
  const stopAttending = channels.onOpen(() => {
    const own = channels.own();
    if (own === attended) return;
    attended = own;
    if (own !== undefined) attend(own);
  });
  closed.addEventListener("abort", stopAttending, { once: true });
  return {
    keep: (taskId, owner) => {
      const entry = kept.get(taskId) ?? { owner, unfollow: undefined };
      kept.set(taskId, entry);
      if (channels.own() !== undefined) void follow(taskId, entry);
    },
    forget: (taskId) => {
      kept.get(taskId)?.unfollow?.();
      kept.delete(taskId);
    },
  };
};
