import { type ChildProcessWithoutNullStreams, spawn as spawnProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jest } from "@jest/globals";
import { createOutput, type Outcome, type Running, runHere } from "./run-here.ts";

const cli = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const job = fileURLToPath(new URL("fixtures/job.sh", import.meta.url));

// Commands start in half a second, but a busy machine takes ten times as long.
jest.setTimeout(90_000);

const anyPort = ["--port", "0"];

/** A command in a process of its own. */
export interface Spawned extends Running {
  readonly child: ChildProcessWithoutNullStreams;
  kill(signal: NodeJS.Signals): void;
}

/** Its folder is the current one of this process. */
export interface Workbench {
  readonly folder: string;
  readonly config: string;
  /** Runs a command to its end, in this process. */
  run(args: readonly string[]): Promise<Outcome>;
  /** Starts a command in this process. */
  start(args: readonly string[]): Running;
  /** Starts the built program: for stdin, and what only a whole process shows. */
  spawn(args: readonly string[]): Spawned;
  /** Runs the built program to its end, with nothing on stdin unless given. */
  runSpawned(args: readonly string[], stdin?: string): Promise<Outcome>;
  /** Runs a program of the folder with Node. */
  spawnNode(file: string): Spawned;
  /** Starts a server and waits until it listens. */
  serve(flags?: readonly string[]): Promise<Spawned & { readonly url: string }>;
  /**
   * Starts a server in this process and waits until it listens: a fifth of the work. It serves until a signal ends it or the
   * workbench is disposed of.
   */
  serveHere(flags?: readonly string[]): Promise<Running & { readonly url: string }>;
  /** Lets a waiting job go on. */
  release(name: string): void;
  /** Ends every process and removes the folder. */
  dispose(): Promise<void>;
}

const tool = (name: string, ...more: readonly string[]): string =>
  `  - { name: ${name}, adapter: local, target: { command: [sh, job.sh, ${[name, ...more].join(", ")}] }, task: { pollIntervalMs: 100 } }\n`;

/** The configuration of every test: the modes of the job, as tools. */
export const configText: string = `store: sqlite:./tasks.db
adapters:
  local: { use: process, directory: ./jobs }
tools:
${tool("echo")}${tool("text")}${tool("large")}${tool("fail")}${tool("wait", '"{{input.file}}"')}${tool("ask")}`;

/** A temporary folder with a configuration and its job. */
export const createWorkbench = (text: string = configText): Workbench => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "taskbridge-cli-"));
  const config = join(folder, "taskbridge.yaml");
  const running = new Set<Running>();
  const before = process.cwd();
  writeFileSync(config, text);
  copyFileSync(job, join(folder, "job.sh"));
  process.chdir(folder);

  const track = <T extends Running>(command: T): T => {
    running.add(command);
    void command.done.finally(() => running.delete(command));
    return command;
  };
  const start: Workbench["start"] = (args) => track(runHere(args));
  const spawnNode = (args: readonly string[]): Spawned =>
    track(follow(spawnProcess(process.execPath, args, { cwd: folder }), args));
  const spawn: Workbench["spawn"] = (args) => spawnNode([cli, ...args]);
  const listens = async <T extends Running>(server: T): Promise<T & { readonly url: string }> => {
    const [, url = ""] = await server.sees(/"url":"([^"]+)"/);
    return { ...server, url };
  };

  return {
    folder,
    config,
    start,
    run: (args) => start(args).done,
    spawn,
    runSpawned: (args, stdin = "") => {
      const command = spawn(args);
      command.child.stdin.end(stdin);
      return command.done;
    },
    spawnNode: (file) => spawnNode([file]),
    serve: (flags = anyPort) => listens(spawn(["serve", "--config", config, ...flags])),
    serveHere: (flags = anyPort) => listens(start(["serve", "--config", config, ...flags])),
    release: (name) => writeFileSync(join(folder, name), ""),
    dispose: async () => {
      // Jobs end when the file is gone; commands of this process end by the signal.
      rmSync(config, { force: true });
      for (const command of running) {
        if ("child" in command) (command as Spawned).kill("SIGKILL");
        else command.kill("SIGTERM");
      }
      await Promise.all([...running].map((command) => command.done));
      process.chdir(before);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
};

const follow = (child: ChildProcessWithoutNullStreams, args: readonly string[]): Spawned => {
  const output = createOutput(args.join(" "));
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => output.write(name, chunk));
  }
  const done = once(child, "close").then(([code]) => ({ code: code as number | null, ...output.text }));
  return { child, done, sees: (pattern) => output.sees(pattern, done), kill: (signal) => void child.kill(signal) };
};

/** The one JSON document that a command printed. */
export const documentOf = ({ stdout, stderr }: Outcome): Record<string, unknown> => {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new Error(`no JSON document on stdout: ${stdout}\n${stderr}`, { cause: error });
  }
};
