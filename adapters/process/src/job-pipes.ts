import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

/** The command's three streams as this side holds them, and what to give to `spawn`. */
export interface JobPipes {
  readonly stdio: readonly (number | "pipe")[];
  readonly stdin: Socket | undefined;
  readonly stdout: Socket | undefined;
  readonly stderr: Socket | undefined;
  /** Closes our copies of the command's ends, without which an end of file would never be seen. */
  spawned(): void;
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_RDWR } = constants;

const openReader = (path: string): { ours: number; theirs: number } => {
  const ours = openSync(path, O_RDONLY | O_NONBLOCK);
  return { ours, theirs: openSync(path, O_WRONLY) };
};

const openWriter = (path: string): { ours: number; theirs: number } => {
  // Opening one end of a FIFO waits for the other; a descriptor that is both ends for a moment avoids that.
  const both = openSync(path, O_RDWR);
  const theirs = openSync(path, O_RDONLY);
  const ours = openSync(path, O_WRONLY | O_NONBLOCK);
  closeSync(both);
  return { ours, theirs };
};

/**
 * Real pipes. Node's own `pipe` is a socket, and a socket cannot be opened through `/dev/stdin` or `/dev/stderr`, which
 * scripts like to do. https://github.com/nodejs/node/issues/21941
 */
export const openJobPipes = async (folder: string): Promise<JobPipes> => {
  const paths = ["in", "out", "err"].map((name) => join(folder, `.${name}-${process.pid}`));
  try {
    await promisify(execFile)("mkfifo", ["-m", "600", ...paths]);
  } catch {
    return { stdio: ["pipe", "pipe", "pipe"], stdin: undefined, stdout: undefined, stderr: undefined, spawned() {} };
  }
  try {
    const [inPath = "", outPath = "", errPath = ""] = paths;
    const input = openWriter(inPath);
    const output = openReader(outPath);
    const errors = openReader(errPath);
    const theirs = [input.theirs, output.theirs, errors.theirs];
    return {
      stdio: theirs,
      stdin: new Socket({ fd: input.ours, readable: false, writable: true }),
      stdout: new Socket({ fd: output.ours, readable: true, writable: false }),
      stderr: new Socket({ fd: errors.ours, readable: true, writable: false }),
      spawned() {
        for (const end of theirs) closeSync(end);
      },
    };
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
};
