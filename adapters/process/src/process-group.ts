const pollMs = 20;
/** How long (milliseconds) a killed group may take to vanish. */
export const vanishMs = 2000;

/** Signals every process of a group. False: there is none. */
export const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
};

/** Asks a group to end, and kills what is left of it after `graceMs`. The result takes the threat back. */
export const stopGroup = (group: number, graceMs: number): (() => void) => {
  signalGroup(group, "SIGTERM");
  // A stopped process would only see the signal when somebody continues it.
  signalGroup(group, "SIGCONT");
  const timer = setTimeout(() => signalGroup(group, "SIGKILL"), graceMs);
  return () => clearTimeout(timer);
};

/** Resolves once the group is empty, or after `timeoutMs`: zombies that nobody reaps never leave it. */
export const waitForEmptyGroup = async (group: number, timeoutMs: number): Promise<void> => {
  const endsAt = performance.now() + timeoutMs;
  while (signalGroup(group, 0) && performance.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};
