import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The process IDs of a process's own children. */
export const childrenOf = async (pid: number): Promise<readonly number[]> => {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => undefined);
  if (listed !== undefined) return listed.split(" ").filter(Boolean).map(Number);
  // Without Linux's /proc.
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="]);
  const pairs = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child ?? 0);
};
