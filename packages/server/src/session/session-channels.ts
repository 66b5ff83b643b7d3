import type { Channel } from "./channel.ts";

/** The streams that a session has open at present. */
export interface SessionChannels {
  /** The session's own stream, if it is open. */
  own(): Channel | undefined;
  /** Where to reach the client about a task: an open `tasks/result` of it, else the session's own stream. */
  forTask(taskId: string): Channel | undefined;
  /** Takes over as the session's own stream until it closes. */
  openOwn(channel: Channel): void;
  /** A request that waits for a task. Returns how to say that it waits no longer. */
  openFor(taskId: string, channel: Channel): () => void;
  /** Calls `listener` whenever a stream opens. Returns how to stop it. */
  onOpen(listener: () => void): () => void;
}

/** `findOwn`: finds out whether the session's own stream is open, where nobody tells when it opens. */
export const createSessionChannels = (findOwn?: () => Channel | undefined): SessionChannels => {
  const waiting = new Map<string, Channel[]>();
  const listeners = new Set<() => void>();
  let own: Channel | undefined;
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const currentOwn = (): Channel | undefined => {
    const found = findOwn === undefined ? own : findOwn();
    return found?.closed.aborted === false ? found : undefined;
  };
  return {
    own: currentOwn,
    forTask: (taskId) => waiting.get(taskId)?.findLast(({ closed }) => !closed.aborted) ?? currentOwn(),
    openOwn: (channel) => {
      own = channel;
      notify();
    },
    openFor: (taskId, channel) => {
      waiting.set(taskId, [...(waiting.get(taskId) ?? []), channel]);
      notify();
      return () => {
        const left = (waiting.get(taskId) ?? []).filter((open) => open !== channel);
        if (left.length === 0) waiting.delete(taskId);
        else waiting.set(taskId, left);
      };
    },
    onOpen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
