import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./kill/server-under-test.mjs", import.meta.url));
export const jobScript: string = fileURLToPath(new URL("./kill/journaled-job.mjs", import.meta.url));

/** One life of the server under test. */
export interface ServerProcess {
  readonly url: string;
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts the server that the kill tests are about; undefined when it killed itself before it listened. `wires`: their
 * names, with commas between them; without: the usual ones.
 */
export const startServer = (folder: string, fault = "", wires = ""): Promise<ServerProcess | undefined> =>
  startScript(script, { FOLDER: folder, JOB: jobScript, JOURNAL: `${folder}/journal`, FAULT: fault, WIRES: wires });

/** Starts a script that prints its URL once it serves. */
export const startScript = async (path: string, env: Record<string, string>): Promise<ServerProcess | undefined> => {
  const child: ChildProcess = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const url = await Promise.race([once(lines, "line").then(([line]) => line as string), gone.then(() => undefined)]);
  return url === undefined ? undefined : { url, gone, signal: (name) => void child.kill(name) };
};
