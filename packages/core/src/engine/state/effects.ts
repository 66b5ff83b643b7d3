import type { Effect, TaskRecord } from "../../contract/task-record.ts";

/**
 * The deadline of the call that carries an effect out (milliseconds). A start or a transfer may well take long; anything
 * else that does not answer soon is better tried again, also because a crash delays it by as much.
 */
export const callMs = (kind: Effect["kind"], callTimeoutMs: number): number =>
  kind === "start" || kind === "capture" ? callTimeoutMs : Math.min(callTimeoutMs, 10_000);

/** How long an effect that is being carried out is left alone: its deadline and a margin for the write after it. */
export const claimMs = (kind: Effect["kind"], callTimeoutMs: number): number => callMs(kind, callTimeoutMs) + 2_000;

/** Effects that could not be carried out in this many attempts are given up. With the longest back-off this takes some hours. */
export const maxEffectAttempts = 50;

/** An effect without what `withEffect` adds. */
export type NewEffect = DistributiveOmit<Effect, "id" | "attempts" | "notBefore">;
type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never;

/** Adds an entry to the outbox, due at `notBefore`. */
export const withEffect = (record: TaskRecord, effect: NewEffect, notBefore: number): TaskRecord => {
  const minted = record.minted + 1;
  const entry = { ...effect, id: `e${minted}`, attempts: 0, notBefore } as Effect;
  return { ...record, minted, effects: [...record.effects, entry] };
};

/** Adds an entry that this process carries out right after the write, and nobody else before `until`. */
export const withClaimedEffect = (record: TaskRecord, effect: NewEffect, until: number): TaskRecord => {
  const added = withEffect(record, effect, until);
  const last = added.effects.at(-1) as Effect;
  return { ...added, effects: [...record.effects, { ...last, attempts: 1 }] };
};

/** Takes an entry out of the outbox. */
export const withoutEffect = (record: TaskRecord, effectId: string): TaskRecord => ({
  ...record,
  effects: record.effects.filter((effect) => effect.id !== effectId),
});

/** Keeps only the entries that pass, and those of another version: what they are for is not known here. */
export const keepEffects = (record: TaskRecord, keep: (effect: Effect) => boolean): TaskRecord => {
  const effects = record.effects.filter((effect) => isForeign(effect) || keep(effect));
  return effects.length === record.effects.length ? record : { ...record, effects };
};

/** Puts an entry off until `notBefore`, remembering the error. */
export const withEffectDelayed = (
  record: TaskRecord,
  effectId: string,
  notBefore: number,
  lastError?: string,
): TaskRecord => ({
  ...record,
  effects: record.effects.map((effect) => {
    if (effect.id !== effectId) return effect;
    return lastError === undefined ? { ...effect, notBefore } : { ...withError(effect, record, lastError), notBefore };
  }),
});

const withError = (effect: Effect, { start }: TaskRecord, error: string): Effect => {
  const lastError = error.slice(0, 300);
  if (effect.kind !== "start") return { ...effect, lastError };
  const { nothingSent: _, ...rest } = effect;
  // The next send is noted before it leaves, and says nothing of the one that failed.
  return { ...rest, lastError, ...(start.firstSentAt === undefined ? { nothingSent: true } : {}) };
};

/** Marks an entry as being carried out until `until`; undefined when it is gone, or someone else has it. */
export const claimEffect = (
  record: TaskRecord,
  effectId: string,
  now: number,
  until: number,
): TaskRecord | undefined => {
  const effect = record.effects.find((entry) => entry.id === effectId);
  if (effect === undefined || effect.notBefore > now) return undefined;
  return {
    ...record,
    effects: record.effects.map((entry) =>
      entry === effect ? { ...entry, attempts: entry.attempts + 1, notBefore: until } : entry,
    ),
  };
};

/** When to try again: doubling from half a second to five minutes, spread by up to a half, and never before the backend allows. */
export const backOffMs = (attempts: number, jitter: number, retryAfterMs = 0): number => {
  const full = Math.min(500 * 2 ** Math.min(attempts - 1, 20), 300_000);
  return Math.max(Math.round(full * (0.5 + jitter / 2)), retryAfterMs);
};

const kinds: ReadonlySet<string> = new Set<Effect["kind"]>([
  "start",
  "cancel",
  "answer",
  "heartbeat",
  "capture",
  "forget",
]);

/** Whether an effect is none that this version knows: a process of the version that wrote it carries it out. */
export const isForeign = ({ kind }: Effect): boolean => !kinds.has(kind);

/** Whether an effect can be carried out in the record's present state. */
export const isActionable = (record: TaskRecord, effect: Effect): boolean => {
  switch (effect.kind) {
    case "start":
    case "forget":
      return true;
    case "cancel":
    case "answer":
    case "capture":
    case "heartbeat":
      // Without a ref there is nothing to address yet; saving the ref wakes the record.
      return record.ref !== undefined;
    default:
      return false;
  }
};
