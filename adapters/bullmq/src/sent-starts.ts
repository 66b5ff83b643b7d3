/** What this process has sent of starts, so that a repeated one knows how far back there may be something of it. */
export interface SentStarts {
  /** `at`: epoch milliseconds of the first send. `unknown`: there may be sends that this process has not made. */
  firstSend(key: string, attempt: number): { readonly at: number } | "none" | "unknown";
  /** To be called before a send. Of a start that is `unknown` nothing is noted: the first send was another. */
  note(key: string, now: number): void;
  /** The send has certainly not arrived. Earlier ones may have. */
  takeBack(key: string, now: number): void;
}

/** So many starts are remembered; of an older one it is unknown what was sent. */
const mostStarts = 10_000;

export const sentStarts = (): SentStarts => {
  /** Undefined as a value: seen from its first attempt on, and nothing was sent. */
  const starts = new Map<string, number | undefined>();
  return {
    firstSend: (key, attempt) => {
      const at = starts.get(key);
      if (at !== undefined) return { at };
      if (attempt > 1 && !starts.has(key)) return "unknown";
      starts.set(key, undefined);
      const [oldest] = starts.keys();
      if (starts.size > mostStarts && oldest !== undefined) starts.delete(oldest);
      return "none";
    },
    note: (key, now) => {
      if (starts.has(key) && starts.get(key) === undefined) starts.set(key, now);
    },
    takeBack: (key, now) => {
      if (starts.get(key) === now) starts.set(key, undefined);
    },
  };
};
