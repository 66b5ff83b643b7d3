import { fillBox, type ReplicaMessage } from "./mailbox.ts";

/** What one process sends: one writer for each box, that takes all along that waits for it. */
export interface Outbox {
  /** Resolves when the letter is in the box, or a later one that replies to the same is to take its place. */
  post(box: string, message: ReplicaMessage): Promise<void>;
}

interface Outgoing {
  readonly message: ReplicaMessage;
  settle(fault?: Error): void;
}

/** `revise`: changes a box in the store, however many do at the same time. */
export const createOutbox = (
  revise: (
    box: string,
    change: (replicaMessages: readonly ReplicaMessage[]) => readonly ReplicaMessage[] | undefined,
  ) => Promise<void>,
): Outbox => {
  const outgoing = new Map<string, readonly Outgoing[]>();

  const write = async (name: string, batch: readonly Outgoing[]): Promise<void> => {
    let refused: ReadonlyMap<ReplicaMessage, string> = new Map();
    try {
      await revise(name, (kept) => {
        const filled = fillBox(
          kept,
          batch.map(({ message }) => message),
        );
        refused = filled.refused;
        return refused.size === batch.length ? undefined : filled.messages;
      });
    } catch (error) {
      for (const { settle } of batch) settle(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    for (const { message, settle } of batch) {
      const fault = refused.get(message);
      settle(fault === undefined ? undefined : new Error(fault));
    }
  };
  const writeAll = async (name: string): Promise<void> => {
    for (let batch = outgoing.get(name) ?? []; batch.length > 0; batch = outgoing.get(name) ?? []) {
      outgoing.set(name, []);
      await write(name, batch);
    }
    outgoing.delete(name);
  };
  const add = (name: string, one: Outgoing): void => {
    const waiting = outgoing.get(name);
    const all = [...(waiting ?? []), one];
    // What waits is bounded as the box is: more would be refused there.
    const { messages: replicaMessages, refused } = fillBox(
      (waiting ?? []).map(({ message }) => message),
      [one.message],
    );
    const left = new Set(replicaMessages);
    outgoing.set(
      name,
      all.filter(({ message }) => left.has(message)),
    );
    const fault = refused.get(one.message);
    for (const { message, settle } of all) {
      if (left.has(message)) continue;
      settle(message === one.message && fault !== undefined ? new Error(fault) : undefined);
    }
    if (waiting === undefined) void writeAll(name);
  };
  return {
    post: (box, message) =>
      new Promise<void>((resolve, reject) => {
        add(box, { message, settle: (fault) => (fault === undefined ? resolve() : reject(fault)) });
      }),
  };
};
