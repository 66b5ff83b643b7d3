/** What stays as it is is looked at again after the first pause, which doubles up to the longest: the second, unless told (milliseconds). */
const shortestPauseMs = 1_000;
const usualPauseMs = 30_000;
/** Executions that are remembered. */
const maxRemembered = 20_000;

/** What was seen last, and when it is to be looked at again. */
export interface InspectionMemory {
  readonly seen: string;
  /** Milliseconds. */
  readonly at: number;
  readonly pauseMs: number;
}

/** Forgets what was kept first, beyond so many executions. */
export const forgetOldest = (kept: Map<string, unknown>): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= maxRemembered) break;
    kept.delete(oldest);
  }
};

export interface InspectionMemories {
  get(name: string): InspectionMemory | undefined;
  /** Nothing is remembered, or the pause after the last look is over. */
  isDue(name: string): boolean;
  /** What a look has shown. `maxPauseMs`: until the next look (milliseconds). */
  note(name: string, seen: string, maxPauseMs?: number): void;
  forget(name: string): void;
}

/** What the last looks have shown, by execution. The longer it stays the same, the longer the pause until the next look. `now`: milliseconds. */
export const inspectionMemories = (now = (): number => performance.now()): InspectionMemories => {
  const kept = new Map<string, InspectionMemory>();
  return {
    get: (name) => kept.get(name),
    isDue: (name) => {
      const memory = kept.get(name);
      return memory === undefined || now() - memory.at >= memory.pauseMs;
    },
    note: (name, seen, maxPauseMs = usualPauseMs) => {
      const before = kept.get(name);
      const pauseMs = before?.seen === seen ? Math.min(before.pauseMs * 2, maxPauseMs) : shortestPauseMs;
      kept.delete(name);
      kept.set(name, { seen, at: now(), pauseMs });
      forgetOldest(kept);
    },
    forget: (name) => {
      kept.delete(name);
    },
  };
};
