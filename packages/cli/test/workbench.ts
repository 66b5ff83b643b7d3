import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jest } from "@jest/globals";

const cli = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const job = fileURLToPath(new URL("fixtures/job.mjs", import.meta.url));
const patienceMs = 30_000;

// Commands start in half a second, but a busy machine takes ten times as long.
jest.setTimeout(90_000);

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command under way. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly done: Promise<Outcome>;
  /** Resolves with the match once stderr holds it; rejects when the command ends without it. */
  sees(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

export interface Workbench {
  readonly folder: string;
  readonly config: string;
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): Running;
  /** Runs a program of the folder with Node. */
  startNode(file: string): Running;
  /** Runs a command to its end, with nothing on stdin unless given. */
  run(args: readonly string[], options?: { stdin?: string; environment?: Record<string, string> }): Promise<Outcome>;
  /** Starts a server and waits until it listens. */
  serve(flags?: readonly string[]): Promise<Running & { readonly url: string }>;
  /** Lets a waiting job go on. */
  release(name: string): void;
  /** Ends every process and removes the folder. */
  dispose(): Promise<void>;
}

const tool = (name: string, ...more: readonly string[]): string =>
  `  - { name: ${name}, adapter: local, target: { command: [node, job.mjs, ${[name, ...more].join(", ")}] }, task: { pollIntervalMs: 100 } }\n`;

/** The configuration of every test: the modes of the job, as tools. */
export const configText: string = `store: sqlite:./tasks.db
adapters:
  local: { use: process, directory: ./jobs }
tools:
${tool("echo")}${tool("text")}${tool("large")}${tool("fail")}${tool("wait", '"{{input.file}}"')}${tool("ask")}`;

/** A temporary folder with a configuration and its job. */
export const createWorkbench = (text: string = configText): Workbench => {
  const folder = mkdtempSync(join(tmpdir(), "taskbridge-cli-"));
  const config = join(folder, "taskbridge.yaml");
  const running = new Set<Running>();
  writeFileSync(config, text);
  copyFileSync(job, join(folder, "job.mjs"));

  const startProcess = (args: readonly string[], environment: Readonly<Record<string, string>>): Running => {
    const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...environment } });
    const command = follow(child, args);
    running.add(command);
    void command.done.finally(() => running.delete(command));
    return command;
  };
  const start: Workbench["start"] = (args, environment = {}) => startProcess([cli, ...args], environment);

  return {
    folder,
    config,
    start,
    startNode: (file) => startProcess([file], {}),
    run: async (args, { stdin = "", environment } = {}) => {
      const command = start(args, environment);
      command.child.stdin.end(stdin);
      return command.done;
    },
    serve: async (flags = ["--port", "0"]) => {
      const server = start(["serve", "--config", config, ...flags]);
      const [, url = ""] = await server.sees(/"url":"([^"]+)"/);
      return { ...server, url };
    },
    release: (name) => writeFileSync(join(folder, name), ""),
    dispose: async () => {
      // Jobs end when they miss their folder.
      rmSync(config, { force: true });
      for (const command of running) command.kill("SIGKILL");
      await Promise.all([...running].map((command) => command.done));
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
};

const follow = (child: ChildProcessWithoutNullStreams, args: readonly string[]): Running => {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const done = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const sees = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): boolean => {
        const match = pattern.exec(stderr);
        if (match !== null) resolve(match);
        return match !== null;
      };
      const fail = (): void => {
        if (!look()) reject(new Error(`${args.join(" ")}: no ${pattern} in:\n${stderr}\n${stdout}`));
      };
      const timer = setTimeout(fail, patienceMs);
      void done.finally(() => {
        clearTimeout(timer);
        fail();
      });
      child.stderr.on("data", () => {
        if (look()) clearTimeout(timer);
      });
      if (look()) clearTimeout(timer);
    });
  return { child, done, sees, kill: (signal) => void child.kill(signal) };
};

/** The one JSON document that a command printed. */
export const documentOf = ({ stdout, stderr }: Outcome): Record<string, unknown> => {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new Error(`no JSON document on stdout: ${stdout}\n${stderr}`, { cause: error });
  }
};
