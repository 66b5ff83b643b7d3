import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { compiledProgram } from "../fleet/compiled-program.ts";
import type { Polls, WatchedTask } from "./poll-on.ts";

export interface PollersOptions {
  /** Of MCP. */
  readonly url: string;
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tasks: readonly WatchedTask[];
  readonly clients: number;
  /** Of all clients together. */
  readonly pollsPerSecond: number;
}

/**
 * What the process of the pollers is told: first what to do; then that what was answered so far does not count, since programs
 * take their time to get fast; at last to stop, which it answers with the `Polls`.
 */
export type PollersMessage = PollersOptions | "count" | "stop";

export interface Pollers {
  /** From now on answers count. What is wrong or fails counts at any time. */
  count(): void;
  stop(): void;
  /** What became of all polls, once stopped. Rejects when the process ends before that. */
  readonly polls: Promise<Polls>;
}

/** Clients that poll, in a process of their own: in that of the balancer, each would wait for the other. */
export const openPollers = (options: PollersOptions): Pollers => {
  const child = fork(compiledProgram("../rolling/pollers.js"), { serialization: "advanced" });
  const report = (message: PollersMessage): void => {
    child.send(message);
  };
  report(options);
  return { count: () => report("count"), stop: () => report("stop"), polls: pollsOf(child) };
};

const pollsOf = async (child: ChildProcess): Promise<Polls> => {
  const exit = once(child, "exit");
  const [reported] = await Promise.race([once(child, "message"), exit.then(() => [undefined])]);
  await exit;
  if (reported === undefined)
    throw new Error(`the clients that poll have ended with ${child.signalCode ?? child.exitCode}`);
  return reported as Polls;
};
