/** What stays as it is is looked at again after the first pause, which doubles up to the longest: the second, unless told (milliseconds). */
const shortestPauseMs = 1_000;
const usualPauseMs = 30_000;
/** Executions that are remembered. */
const mostRemembered = 20_000;

/** What was seen last, and when it is to be looked at again. */
export interface LookMemory {
  readonly told: string;
  /** Milliseconds. */
  readonly at: number;
  readonly pauseMs: number;
}

/** Forgets what was kept first, beyond so many executions. */
export const forgetOldest = (kept: Map<string, unknown>): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= mostRemembered) break;
    kept.delete(oldest);
  }
};

export interface LookMemories {
  get(name: string): LookMemory | undefined;
  /** Nothing is remembered, or the pause after the last look is over. */
  isDue(name: string): boolean;
  /** What a look has shown. `longestPauseMs`: until the next look (milliseconds). */
  note(name: string, told: string, longestPauseMs?: number): void;
  forget(name: string): void;
}

/** What the last looks have shown, by execution. The longer it stays the same, the longer the pause until the next look. `now`: milliseconds. */
export const lookMemories = (now = (): number => performance.now()): LookMemories => {
  const kept = new Map<string, LookMemory>();
  return {
    get: (name) => kept.get(name),
    isDue: (name) => {
      const memory = kept.get(name);
      return memory === undefined || now() - memory.at >= memory.pauseMs;
    },
    note: (name, told, longestPauseMs = usualPauseMs) => {
      const before = kept.get(name);
      const pauseMs = before?.told === told ? Math.min(before.pauseMs * 2, longestPauseMs) : shortestPauseMs;
      kept.delete(name);
      kept.set(name, { told, at: now(), pauseMs });
      forgetOldest(kept);
    },
    forget: (name) => {
      kept.delete(name);
    },
  };
};
