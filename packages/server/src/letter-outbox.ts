import { fillBox, type Letter } from "./letter-box.ts";

/** What one process sends: one writer for each box, that takes all along that waits for it. */
export interface Outbox {
  /** Resolves when the letter is in the box, or a later one that replies to the same is to take its place. */
  post(box: string, letter: Letter): Promise<void>;
}

interface Outgoing {
  readonly letter: Letter;
  settle(fault?: Error): void;
}

/** `revise`: changes a box in the store, however many do at the same time. */
export const createOutbox = (
  revise: (box: string, change: (letters: readonly Letter[]) => readonly Letter[] | undefined) => Promise<void>,
): Outbox => {
  const outgoing = new Map<string, readonly Outgoing[]>();

  const write = async (name: string, batch: readonly Outgoing[]): Promise<void> => {
    let refused: ReadonlyMap<Letter, string> = new Map();
    try {
      await revise(name, (kept) => {
        const filled = fillBox(
          kept,
          batch.map(({ letter }) => letter),
        );
        refused = filled.refused;
        return refused.size === batch.length ? undefined : filled.letters;
      });
    } catch (error) {
      for (const { settle } of batch) settle(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    for (const { letter, settle } of batch) {
      const fault = refused.get(letter);
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
    const { letters, refused } = fillBox(
      (waiting ?? []).map(({ letter }) => letter),
      [one.letter],
    );
    const left = new Set(letters);
    outgoing.set(
      name,
      all.filter(({ letter }) => left.has(letter)),
    );
    const fault = refused.get(one.letter);
    for (const { letter, settle } of all) {
      if (left.has(letter)) continue;
      settle(letter === one.letter && fault !== undefined ? new Error(fault) : undefined);
    }
    if (waiting === undefined) void writeAll(name);
  };
  return {
    post: (box, letter) =>
      new Promise<void>((resolve, reject) => {
        add(box, { letter, settle: (fault) => (fault === undefined ? resolve() : reject(fault)) });
      }),
  };
};
