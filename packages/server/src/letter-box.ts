/** A reply on its way to another process, as the store keeps it. */
export interface Letter {
  /** The address of the process that it is for. */
  readonly to: string;
  /** What it replies to. */
  readonly id: string;
  /** Whose it is, by a name that tells nobody who that is. */
  readonly sender: string;
  /** Epoch milliseconds by the store's clock. */
  readonly at: number;
  readonly sealed: string;
}

export interface FilledBox {
  readonly letters: readonly Letter[];
  /** Which have found no room, and why. */
  readonly refused: ReadonlyMap<Letter, string>;
}

/** Nobody is looking for older ones any more (milliseconds). */
const keptMs = 120_000;
/** The most characters that a box may have, and those of one sender in it, so that nobody keeps others from sending. */
const longestBox = 1_048_576;
const longestOfSender = longestBox / 2;

/** Puts letters into a box, in place of those that have grown old and of older ones that reply to the same. */
export const fillBox = (kept: readonly Letter[], fresh: readonly Letter[]): FilledBox => {
  const now = Math.max(...fresh.map(({ at }) => at));
  const box = new Map<string, Letter>();
  const lengths = new Map<string, number>();
  const refused = new Map<Letter, string>();
  let length = 0;

  const grow = ({ sender }: Letter, by: number): void => {
    length += by;
    lengths.set(sender, (lengths.get(sender) ?? 0) + by);
  };
  const take = (letter: Letter): void => {
    const name = `${letter.to} ${letter.id}`;
    const older = box.get(name);
    if (older !== undefined) grow(older, -lengthOf(older));
    box.set(name, letter);
    grow(letter, lengthOf(letter));
  };
  const findFault = (letter: Letter): string | undefined => {
    const older = box.get(`${letter.to} ${letter.id}`);
    const by = lengthOf(letter) - (older === undefined ? 0 : lengthOf(older));
    if (length + by > longestBox) return "too many replies are waiting to be fetched";
    const isShareFull = (lengths.get(letter.sender) ?? 0) + by > longestOfSender;
    return isShareFull ? "too many replies of one sender are waiting to be fetched" : undefined;
  };
  for (const letter of kept) if (Math.abs(now - letter.at) < keptMs) take(letter);
  for (const letter of fresh) {
    const fault = findFault(letter);
    if (fault === undefined) take(letter);
    else refused.set(letter, fault);
  }
  return { letters: [...box.values()], refused };
};

/** What is no letter, such as what another version has written, is left out, and so makes room. */
export const parseBox = (kept: string | undefined): readonly Letter[] => {
  try {
    const letters: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(letters) ? letters.filter(isLetter) : [];
  } catch {
    return [];
  }
};

const isLetter = (value: unknown): value is Letter => {
  if (typeof value !== "object" || value === null) return false;
  const { to, id, sender, at, sealed } = value as Readonly<Record<string, unknown>>;
  return [to, id, sender, sealed].every((text) => typeof text === "string") && Number.isFinite(at);
};

/** With what JSON adds to it. */
const lengthOf = ({ to, id, sender, sealed }: Letter): number =>
  to.length + id.length + sender.length + sealed.length + 80;
