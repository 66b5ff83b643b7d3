/** A reply on its way to another process, as the store keeps it. */
export interface ReplicaMessage {
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
  readonly messages: readonly ReplicaMessage[];
  /** Which have found no room, and why. */
  readonly refused: ReadonlyMap<ReplicaMessage, string>;
}

/** Nobody is looking for older ones any more (milliseconds). */
const keptMs = 120_000;
/** The most characters that a box may have, below what a store keeps as one value, and those of one sender in it. */
const maxBox = 1_040_000;
const maxOfSender = maxBox / 2;

/** Puts letters into a box, in place of those that have grown old and of older ones that reply to the same. */
export const fillBox = (kept: readonly ReplicaMessage[], fresh: readonly ReplicaMessage[]): FilledBox => {
  const now = Math.max(...fresh.map(({ at }) => at));
  const box = new Map<string, ReplicaMessage>();
  const lengths = new Map<string, number>();
  const refused = new Map<ReplicaMessage, string>();
  let length = 0;

  const grow = ({ sender }: ReplicaMessage, by: number): void => {
    length += by;
    lengths.set(sender, (lengths.get(sender) ?? 0) + by);
  };
  const put = (message: ReplicaMessage): void => {
    const name = `${message.to} ${message.id}`;
    const older = box.get(name);
    if (older !== undefined) grow(older, -lengthOf(older));
    box.set(name, message);
    grow(message, lengthOf(message));
  };
  const findFault = (message: ReplicaMessage): string | undefined => {
    const older = box.get(`${message.to} ${message.id}`);
    const by = lengthOf(message) - (older === undefined ? 0 : lengthOf(older));
    if (length + by > maxBox) return "too many replies are waiting to be fetched";
    const isShareFull = (lengths.get(message.sender) ?? 0) + by > maxOfSender;
    return isShareFull ? "too many replies of one sender are waiting to be fetched" : undefined;
  };
  for (const message of kept) if (Math.abs(now - message.at) < keptMs) put(message);
  for (const message of fresh) {
    const fault = findFault(message);
    if (fault === undefined) put(message);
    else refused.set(message, fault);
  }
  return { messages: [...box.values()], refused };
};

/** What is no letter, such as what another version has written, is left out, and so makes room. */
export const parseBox = (kept: string | undefined): readonly ReplicaMessage[] => {
  try {
    const replicaMessages: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(replicaMessages) ? replicaMessages.filter(isReplicaMessage) : [];
  } catch {
    return [];
  }
};

const isReplicaMessage = (value: unknown): value is ReplicaMessage => {
  if (typeof value !== "object" || value === null) return false;
  const { to, id, sender, at, sealed } = value as Readonly<Record<string, unknown>>;
  return [to, id, sender, sealed].every((text) => typeof text === "string") && Number.isFinite(at);
};

/** With what JSON adds to it. */
const lengthOf = ({ to, id, sender, sealed }: ReplicaMessage): number =>
  to.length + id.length + sender.length + sealed.length + 80;
