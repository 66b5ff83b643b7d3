import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";

/** A program that ends with this process, however this process ends. */
export interface GuardedProcess {
  /** The program's own. */
  readonly pid: number;
  /** Resolves once it has ended. */
  readonly ended: Promise<unknown>;
  /** Does nothing to a process that is gone. */
  signal(name: NodeJS.Signals): void;
  /** Which other processes, stopped ones, end with it should this process die. Replaces those told before. */
  guardAlso(pids: readonly number[]): void;
  /** Ends it, by SIGKILL unless told otherwise, and waits until it has ended. Idempotent. */
  kill(signal?: "SIGKILL" | "SIGQUIT"): Promise<void>;
}

export interface GuardedOptions {
  /** Its environment. Default: ours. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Its working directory. Default: ours. */
  readonly cwd?: string | undefined;
  /** Whom it runs as. Default: as we do. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Removed after it should this process die. */
  readonly folder?: string | undefined;
  /** What it is sent first should this process die, two seconds before SIGKILL. Default: SIGKILL at once. */
  readonly lastSignal?: "QUIT" | undefined;
}

/** `read` sees its input end when this process dies, however it does, so that no server is left behind. */
const guardScript = `last=$1; folder=$2; shift 2; "$@" >&2 & server=$!; echo "$server"
(also=; while read -r line; do also=$line; done
[ "$also" != ended ] || exit 0
[ -z "$also" ] || kill -KILL $also; kill -CONT "$server"; kill "-$last" "$server"
[ "$last" = KILL ] || for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -0 "$server" || break; sleep 0.1
done; kill -KILL "$server"; [ -z "$folder" ] || rm -rf "$folder") <&3 2>/dev/null &
wait "$server"; exit 0`;

/**
 * Starts a program whose output nobody reads.
 * @throws When it cannot be started.
 */
export const startGuarded = async (
  program: string,
  args: readonly string[],
  { env = process.env, cwd, user, folder, lastSignal }: GuardedOptions = {},
): Promise<GuardedProcess> => {
  const stdio = ["ignore", "pipe", "ignore", "pipe"] as const;
  const guard = spawn("sh", ["-c", guardScript, "sh", lastSignal ?? "KILL", folder ?? "", program, ...args], {
    stdio: [...stdio],
    env,
    cwd,
    ...user,
  });
  const ended = once(guard, "close");
  const pid = await readPid(guard, ended);
  if (!(pid > 1)) throw new Error(`${program} could not be started`);
  const report = (line: string): void => {
    const guarding = guard.stdio[3] as Writable;
    if (guarding.writable) guarding.write(`${line}\n`);
  };
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
    guardAlso: (pids) => report(pids.join(" ")),
    kill: async (name = "SIGKILL") => {
      // Once only: the number may be another's by now.
      if (!isKilled && guard.exitCode === null) signal(name);
      isKilled = true;
      report("ended");
      (guard.stdio[3] as Writable).end();
      await ended;
    },
  };
};

const readPid = async (guard: ChildProcess, ended: Promise<unknown[]>): Promise<number> => {
  if (guard.stdout === null) throw new Error("no output of the server to read");
  const [first] = await Promise.race([once(guard.stdout, "data"), ended]);
  return Number.parseInt(String(first), 10);
};
