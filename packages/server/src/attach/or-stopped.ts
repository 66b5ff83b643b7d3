import type { Result } from "@modelcontextprotocol/server";
import { stoppedError } from "./attachment.ts";

/**
 * A wait for the end of a task, given up when the task server is stopped. Its own connections are closed then; in somebody
 * else's server nobody closes them, and the client would wait for ever.
 */
export const orStopped = async (stopping: AbortSignal, answer: Promise<Result>): Promise<Result> => {
  let onStop: () => void = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    onStop = () => reject(stoppedError());
  });
  stopping.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    stopping.removeEventListener("abort", onStop);
  }
};
