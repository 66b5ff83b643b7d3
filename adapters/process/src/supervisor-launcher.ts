import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Where this file is run from `src`, too. */
const script = fileURLToPath(new URL("../dist/supervisor.js", import.meta.url));

/** A supervisor that was sent to a job. */
export interface Launch {
  /** Set once it has ended, or could not be spawned. `code` is null when it was killed. */
  exit?: { readonly code: number | null; readonly problem?: string };
}

export interface SupervisorLauncher {
  /** Sends a supervisor to a job's folder; it goes on by itself from there. */
  launch(folder: string, onExit: () => void): Launch;
  /** Boots a supervisor that waits for a job, so that the next start need not wait for Node. It ends with this process. */
  keepSpare(): void;
  close(): void;
}

/** `dieAt`: where the tests let every supervisor die. */
export const supervisorLauncher = (dieAt: string | undefined): SupervisorLauncher => {
  let spare: ChildProcess | undefined;
  let isClosed = false;

  const boot = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: "/",
      // Nothing of the server's: its NODE_OPTIONS, for one, may open a debugger's port.
      env: {},
      // A session of its own: what is sent to the server's group does not reach it.
      detached: true,
      stdio: [args.length === 0 ? "pipe" : "ignore", "ignore", "ignore"],
    });
    child.unref();
    return child;
  };
  const popSpare = (folder: string): ChildProcess | undefined => {
    const child = spare;
    spare = undefined;
    child?.removeAllListeners();
    child?.stdin?.end(`${folder}\n`);
    return child;
  };

  return {
    launch(folder, onExit) {
      const launched: Launch = {};
      const child = popSpare(folder) ?? (dieAt === undefined ? boot(folder) : boot(folder, dieAt));
      child.once("exit", (code) => {
        launched.exit = { code };
        onExit();
      });
      child.once("error", (error) => {
        launched.exit = { code: 1, problem: error.message };
        onExit();
      });
      return launched;
    },
    keepSpare() {
      if (isClosed || spare !== undefined || dieAt !== undefined) return;
      const child = boot();
      const drop = (): void => {
        if (spare === child) spare = undefined;
      };
      child.once("exit", drop).once("error", drop);
      // A spare that died meanwhile is seen by its exit.
      child.stdin?.on("error", () => {});
      (child.stdin as { unref?(): void } | null)?.unref?.();
      spare = child;
    },
    close() {
      isClosed = true;
      spare?.stdin?.end();
      spare = undefined;
    },
  };
};
