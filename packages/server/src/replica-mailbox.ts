import { createHash, randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Clock } from "@taskbridge/core";
import type { TaskStore } from "@taskbridge/core/store";
import { parseBox, type ReplicaMessage } from "./mailbox.ts";
import { createOutbox } from "./mailbox-outbox.ts";
import type { Sealer } from "./sealer.ts";
import type { ServerLog } from "./server-log.ts";
import { createWaiter } from "./session/waiter.ts";

/**
 * Carries what a client replies from the process that it arrives at to the one that has asked, by the store that they share:
 * replicas know no addresses of each other. What is lost with a process that stops is asked again.
 */
export interface ReplicaMailbox {
  /** Of this process, for those who send. */
  readonly address: string;
  /** Calls `onMessage` with what comes under this ID, once. Returns how to stop. */
  expect(id: string, onMessage: (message: object) => void): () => void;
  /**
   * Resolves when it is where its receiver finds it within a second or two, in place of an earlier one with the same ID. To this
   * process itself nothing is sent. Rejects when it is far too long, when too many wait, and as the store does.
   */
  send(address: string, reply: Reply): Promise<void>;
  close(): void;
}

/** What a client has replied. */
export interface Reply {
  readonly id: string;
  readonly message: object;
  /** The owner, or the session where there is none: nobody may take the room of all. */
  readonly sender: string;
}

export interface ReplicaMailboxParts {
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** The time by which records are stamped (epoch milliseconds). */
  readonly storeNow: () => number;
  readonly log: ServerLog;
  readonly store: Pick<TaskStore, "values">;
  /** Other processes may write to the store. */
  readonly isShared: boolean;
}

/** So many names in the store are shared by all processes that ever were. */
const boxes = 64;
/** How often a process looks into its box, while it waits for something at all (milliseconds). */
const pollMs = 1_000;
/** The most characters that a reply may have as it is kept. */
const maxMessageChars = 262_144;
/** Others write to the same box. Between attempts they pause, up to twice as long each time (milliseconds). */
const maxAttempts = 20;
const firstPauseMs = 10;
const maxPauseMs = 500;

export const createReplicaMailbox = ({
  store,
  sealer,
  clock,
  storeNow,
  log,
  isShared,
}: ReplicaMailboxParts): ReplicaMailbox => {
  const address = randomBytes(12).toString("hex");
  const expected = new Map<string, (message: object) => void>();
  const closing = new AbortController();
  // Each box that is being written may wait for its next attempt.
  setMaxListeners(0, closing.signal);
  let cancelPoll: (() => void) | undefined;

  const wait = createWaiter(closing.signal);
  /** Changes a box, however many do at the same time. `change` gives undefined when there is nothing to change. */
  const revise = async (
    name: string,
    change: (messages: readonly ReplicaMessage[]) => readonly ReplicaMessage[] | undefined,
  ): Promise<void> => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      closing.signal.throwIfAborted();
      const kept = await store.values.read(name);
      const next = change(parseBox(kept));
      if (next === undefined) return;
      // A reply that a crash of the store loses is asked for again.
      if (await store.values.write(name, JSON.stringify(next), kept, { durable: false })) return;
      const pauseMs = Math.random() * Math.min(maxPauseMs, firstPauseMs * 2 ** attempt);
      await wait((resolve) => clock.schedule(pauseMs, resolve));
    }
    throw new Error(`${name} is written by others all the time`);
  };
  const outbox = createOutbox(revise);
  const deliver = ({ id, sealed }: ReplicaMessage): void => {
    const onMessage = expected.get(id);
    const message = sealer.open(sealed, messageSubject(id), maxMessageChars);
    if (onMessage === undefined || typeof message !== "object" || message === null) return;
    expected.delete(id);
    onMessage(message);
  };
  const poll = async (): Promise<void> => {
    try {
      await revise(toBox(address), (messages) => {
        const mine = messages.filter(({ to }) => to === address);
        // Before they are taken out: what comes twice is taken once.
        for (const replicaMessage of mine) deliver(replicaMessage);
        return mine.length === 0 ? undefined : messages.filter(({ to }) => to !== address);
      });
    } catch (error) {
      if (!closing.signal.aborted)
        log.warn({ err: error }, "replies that other replicas have got could not be fetched");
    }
    cancelPoll = undefined;
    pollLater();
  };
  const pollLater = (): void => {
    if (closing.signal.aborted || !isShared || expected.size === 0) return;
    cancelPoll ??= clock.schedule(pollMs, () => void poll());
  };
  return {
    address,
    expect: (id, onMessage) => {
      expected.set(id, onMessage);
      pollLater();
      return () => void expected.delete(id);
    },
    send: async (to, { id, message, sender }) => {
      if (!isShared || to === address) return;
      const sealed = sealer.seal(message, messageSubject(id));
      if (sealed.length > maxMessageChars) {
        throw new Error(`a reply of ${sealed.length} bytes is too long to be passed on`);
      }
      const replicaMessage: ReplicaMessage = { to, id, sender: toSender(sender), at: storeNow(), sealed };
      await outbox.post(toBox(to), replicaMessage);
    },
    close: () => {
      closing.abort(new Error("the server was closed"));
      cancelPoll?.();
    },
  };
};

const toBox = (address: string): string => `server:mailbox:${Number.parseInt(address.slice(0, 4), 16) % boxes}`;

const messageSubject = (id: string): string => `replica message about ${id}`;

const toSender = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);
