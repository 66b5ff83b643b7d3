import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** One life of a server under test. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
}

/** Starts a script that prints its URL once it serves; undefined when it ended before that. */
export const startServer = async (script: URL, env: Record<string, string>): Promise<ServerProcess | undefined> => {
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(script)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const url = await Promise.race([once(lines, "line").then(([line]) => line as string), gone.then(() => undefined)]);
  return url === undefined ? undefined : { url, pid: child.pid ?? 0, gone, signal: (name) => void child.kill(name) };
};
