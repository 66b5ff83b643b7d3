import { performance } from "node:perf_hooks";

const pollMs = 20;

/** Looks until a condition holds; fails when it does not within `limitMs`. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> => {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};
