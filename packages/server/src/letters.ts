import { randomBytes } from "node:crypto";
import type { TaskStore } from "@taskbridge/core/store";
import type { ServeContext } from "./mcp/serve-context.ts";

/**
 * Carries what a client replies from the process that it arrives at to the one that has asked, by the store that they share:
 * replicas know no addresses of each other. What is lost with a process that stops is asked again.
 */
export interface Letters {
  /** Of this process, for those who send. */
  readonly address: string;
  /** Calls `take` with what comes under this ID, once. Returns how to stop. */
  expect(id: string, take: (message: object) => void): () => void;
  /** Resolves when it is where its receiver finds it within a second or two. To this process itself nothing is sent. */
  send(address: string, id: string, message: object): Promise<void>;
  close(): void;
}

export interface LettersParts extends Pick<ServeContext, "sealer" | "clock" | "storeNow" | "log"> {
  readonly store: Pick<TaskStore, "loadCursor" | "saveCursor">;
  /** Other processes may write to the store. */
  readonly isShared: boolean;
}

interface Letter {
  readonly to: string;
  readonly id: string;
  /** Epoch milliseconds by the store's clock. */
  readonly at: number;
  readonly sealed: string;
}

/** So many names in the store are shared by all processes that ever were. */
const boxes = 64;
/** How often a process looks into its box, while it waits for something at all (milliseconds). */
const lookMs = 1_000;
/** Nobody is looking for older ones any more (milliseconds). */
const keptMs = 120_000;
/** The most bytes that a reply may have as it is kept, and a box altogether. */
const longestLetter = 262_144;
const longestBox = 1_048_576;
/** Others write to the same box. */
const mostAttempts = 20;

export const createLetters = ({ store, sealer, clock, storeNow, log, isShared }: LettersParts): Letters => {
  const address = randomBytes(12).toString("hex");
  const expected = new Map<string, (message: object) => void>();
  let cancelLook: (() => void) | undefined;
  let isClosed = false;

  /** Changes a box, however many do at the same time. `change` gives undefined when there is nothing to change. */
  const revise = async (
    name: string,
    change: (letters: readonly Letter[]) => readonly Letter[] | undefined,
  ): Promise<void> => {
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const kept = await store.loadCursor(name);
      const next = change(parseBox(kept));
      if (next === undefined || (await store.saveCursor(name, JSON.stringify(next), kept))) return;
    }
    throw new Error(`${name} is written by others all the time`);
  };
  const deliver = ({ id, sealed }: Letter): void => {
    const take = expected.get(id);
    const message = sealer.open(sealed, aboutLetter(id), longestLetter);
    if (take === undefined || typeof message !== "object" || message === null) return;
    expected.delete(id);
    take(message);
  };
  const look = async (): Promise<void> => {
    try {
      await revise(toBox(address), (letters) => {
        const mine = letters.filter(({ to }) => to === address);
        // Before they are taken out: what comes twice is taken once.
        for (const letter of mine) deliver(letter);
        return mine.length === 0 ? undefined : letters.filter(({ to }) => to !== address);
      });
    } catch (error) {
      log.warn({ err: error }, "replies that other replicas have got could not be fetched");
    }
    cancelLook = undefined;
    lookLater();
  };
  const lookLater = (): void => {
    if (isClosed || !isShared || expected.size === 0) return;
    cancelLook ??= clock.schedule(lookMs, () => void look());
  };
  return {
    address,
    expect: (id, take) => {
      expected.set(id, take);
      lookLater();
      return () => void expected.delete(id);
    },
    send: async (to, id, message) => {
      if (!isShared || to === address) return;
      const letter: Letter = { to, id, at: storeNow(), sealed: sealer.seal(message, aboutLetter(id)) };
      if (letter.sealed.length > longestLetter) {
        throw new Error(`a reply of ${letter.sealed.length} bytes is too long to be passed on`);
      }
      await revise(toBox(to), (letters) => {
        const next = [...letters.filter(({ at }) => Math.abs(letter.at - at) < keptMs), letter];
        if (JSON.stringify(next).length > longestBox) throw new Error("too many replies are waiting to be fetched");
        return next;
      });
    },
    close: () => {
      isClosed = true;
      cancelLook?.();
    },
  };
};

const toBox = (address: string): string => `server:letters:${Number.parseInt(address.slice(0, 4), 16) % boxes}`;

const aboutLetter = (id: string): string => `letter about ${id}`;

/** What another version has written is not understood, and makes room. */
const parseBox = (kept: string | undefined): readonly Letter[] => {
  try {
    const letters: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(letters) ? letters : [];
  } catch {
    return [];
  }
};
