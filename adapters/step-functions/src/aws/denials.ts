/** How long nobody asks again (milliseconds): a policy is not changed more often. */
const quietMs = 60_000;

/** Which reads AWS denies, of those that an operator may leave out of what is allowed. */
export interface Denials {
  /** `what`: an action and a machine. True for a minute after it was denied: it is not worth a call. */
  isQuiet(what: string): boolean;
  add(what: string): void;
}

/** `now`: milliseconds. */
export const denials = (now = (): number => performance.now()): Denials => {
  const deniedAt = new Map<string, number>();
  return {
    isQuiet: (what) => now() - (deniedAt.get(what) ?? Number.NEGATIVE_INFINITY) < quietMs,
    add: (what) => {
      deniedAt.set(what, now());
    },
  };
};
