import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { runProgram } from "../src/run-program.ts";

/** A command under way, in a process of its own or in this one. */
export interface Running {
  readonly done: Promise<Outcome>;
  /** Resolves with the match once stderr holds it; rejects when the command ends without it. */
  sees(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the command a signal. In this process, the signal reaches this command only. */
  kill(signal: "SIGINT" | "SIGTERM"): void;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a command has written so far. */
export interface Output {
  readonly text: { stdout: string; stderr: string };
  write(name: "stdout" | "stderr", chunk: string): void;
  sees(pattern: RegExp, done: Promise<Outcome>): Promise<RegExpExecArray>;
}

const patienceMs = 30_000;

export const createOutput = (command: string): Output => {
  const text = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  return {
    text,
    write: (name, chunk) => {
      text[name] += chunk;
      for (const check of watchers) check();
    },
    sees: (pattern, done) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(text.stderr);
          if (match !== null) settle(() => resolve(match));
        };
        const fail = (): void =>
          settle(() => reject(new Error(`${command}: no ${pattern} in:\n${text.stderr}\n${text.stdout}`)));
        const timer = setTimeout(fail, patienceMs);
        const settle = (action: () => void): void => {
          clearTimeout(timer);
          watchers.delete(check);
          action();
        };
        watchers.add(check);
        check();
        void done.finally(fail);
      }),
  };
};

const current = new AsyncLocalStorage<Output & { readonly signals: EventEmitter }>();

/** Lets what a command of this process writes go to its own output, and no command see a terminal. */
const divert = (name: "stdout" | "stderr"): void => {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    const output = current.getStore();
    if (output === undefined) return write(chunk, ...rest);
    output.write(name, String(chunk));
    return true;
  }) as typeof stream.write;
  Object.defineProperty(stream, "isTTY", { value: false, configurable: true });
};
divert("stdout");
divert("stderr");
Object.defineProperty(process.stdin, "isTTY", { value: false, configurable: true });

/** Lets a command of this process listen for signals to itself, not to the whole process. */
const divertSignals = (name: "on" | "off"): void => {
  const listen = process[name].bind(process) as (...args: unknown[]) => NodeJS.Process;
  process[name] = ((event: string, listener: () => void) => {
    const command = event === "SIGINT" || event === "SIGTERM" ? current.getStore() : undefined;
    if (command === undefined) return listen(event, listener);
    command.signals[name](event, listener);
    return process;
  }) as (typeof process)[typeof name];
};
divertSignals("on");
divertSignals("off");

/**
 * Runs a command in this process: a tenth of the work of starting another. For everything but stdin, the second signal, which
 * ends a process at once, and the process itself.
 */
export const runHere = (args: readonly string[]): Running => {
  const output = { ...createOutput(args.join(" ")), signals: new EventEmitter() };
  const done = current.run(output, () => runProgram(args)).then((code) => ({ code, ...output.text }));
  return {
    done,
    sees: (pattern) => output.sees(pattern, done),
    kill: (signal) => current.run(output, () => void output.signals.emit(signal, signal)),
  };
};
