import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../redis-bench.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Served {
  readonly url: string;
  /** What the server has logged so far: one JSON object for each line. */
  log(): string;
  stop(): Promise<void>;
}

/** A folder as a user has it: a configuration file, and the adapter installed beside it. */
export interface ServedFolder {
  readonly path: string;
  serve(): Promise<Served>;
  /** Runs the CLI to its end. */
  run(...args: readonly string[]): Promise<Outcome>;
  /** Runs what takes a configuration file. */
  runHere(...args: readonly string[]): Promise<Outcome>;
  close(): Promise<void>;
}

const cli = join(dirname(createRequire(import.meta.url).resolve("taskbridge/package.json")), "dist/main.js");
const adapter = fileURLToPath(new URL("../..", import.meta.url));

const follow = (child: ChildProcess): { done: Promise<Outcome>; text: { stdout: string; stderr: string } } => {
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
  return { done: once(child, "close").then(([code]) => ({ code: code as number | null, ...text })), text };
};

export const servedFolder = async (yaml: string): Promise<ServedFolder> => {
  const path = await mkdtemp(join(tmpdir(), "taskbridge-e2e-"));
  const config = join(path, "taskbridge.yaml");
  await writeFile(config, yaml);
  await mkdir(join(path, "node_modules/@taskbridge"), { recursive: true });
  await symlink(adapter, join(path, "node_modules/@taskbridge/adapter-bullmq"));
  const children = new Set<ChildProcess>();
  const start = (args: readonly string[]): ReturnType<typeof follow> & { child: ChildProcess } => {
    const child = spawn(process.execPath, [cli, ...args], { cwd: path, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    const followed = follow(child);
    void followed.done.finally(() => children.delete(child));
    return { ...followed, child };
  };
  const run: ServedFolder["run"] = (...args) => start(args).done;
  return {
    path,
    run,
    runHere: (...args) => run(...args, "--config", config),
    serve: async () => {
      const { child, done, text } = start(["serve", "--config", config, "--port", "0"]);
      let hasEnded = false;
      void done.finally(() => {
        hasEnded = true;
      });
      const url = await until(
        "the server serves",
        async () => {
          if (hasEnded) throw new Error(`the server has ended: ${text.stderr}`);
          return /"url":"([^"]+)"/.exec(text.stderr)?.[1];
        },
        45_000,
      );
      return {
        url,
        log: () => text.stderr,
        stop: async () => {
          child.kill("SIGTERM");
          await done;
        },
      };
    },
    close: async () => {
      await Promise.all([...children].map((child) => child.kill("SIGKILL") && once(child, "close")));
      await rm(path, { recursive: true, force: true });
    },
  };
};
