import { withJitter } from "./jitter.ts";

/** How long to wait between two looks at a task. Milliseconds. */
export interface Pace {
  /** After a look that showed nothing new (`changed: false`) the pauses grow. */
  next(pollIntervalMs: number | undefined, changed: boolean): number;
}

/** A server may have no opinion. */
const usualPollMs = 1_000;
/** Less is not waiting. */
const shortestPollMs = 100;
const maxPollMs = 10_000;
/** Whatever a server asks for, a task is looked at this often. */
const maxServerPollMs = 600_000;

/** Never more often than the server asks for, and less often the longer nothing happens. */
export const createPace = (): Pace => {
  let backoffMs = shortestPollMs;
  return {
    next: (pollIntervalMs = usualPollMs, changed) => {
      backoffMs = changed ? shortestPollMs : Math.min(backoffMs * 1.5, maxPollMs);
      return withJitter(Math.max(Math.min(pollIntervalMs, maxServerPollMs), backoffMs));
    },
  };
};
