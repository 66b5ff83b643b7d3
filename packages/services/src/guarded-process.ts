import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A program that ends with this process, however this process ends. */
export interface GuardedProcess {
  /** The program's own. */
  readonly pid: number;
  /** Resolves once it has ended. */
  readonly ended: Promise<unknown>;
  /** Does nothing to a process that is gone. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL, and waits until it has ended. Idempotent. */
  kill(): Promise<void>;
}

/** `cat` sees its input end when this process dies, however it does, so that no server is left behind. */
const guardScript = `"$@" >&2 & server=$!; echo "$server"; (cat >/dev/null; kill -KILL "$server" 2>/dev/null) <&3 & wait "$server"; exit 0`;

/**
 * Starts a program whose output nobody reads.
 * @param env Its environment. Default: ours.
 * @throws When it cannot be started.
 */
export const startGuarded = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<GuardedProcess> => {
  const stdio = ["ignore", "pipe", "ignore", "pipe"] as const;
  const guard = spawn("sh", ["-c", guardScript, "sh", program, ...args], { stdio: [...stdio], env });
  const ended = once(guard, "close");
  const pid = await readPid(guard, ended);
  if (!(pid > 1)) throw new Error(`${program} could not be started`);
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  let isKilled = false;
  return {
    pid,
    ended,
    signal,
    kill: async () => {
      // Once only: the number may be another's by now.
      if (!isKilled && guard.exitCode === null) signal("SIGKILL");
      isKilled = true;
      guard.stdio[3]?.destroy();
      await ended;
    },
  };
};

const readPid = async (guard: ChildProcess, ended: Promise<unknown[]>): Promise<number> => {
  if (guard.stdout === null) throw new Error("no output of the server to read");
  const [first] = await Promise.race([once(guard.stdout, "data"), ended]);
  return Number.parseInt(String(first), 10);
};
