import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export interface ProcessSlotOptions {
  readonly name: string;
  /** The script that lives there, and how it is started. It ends by itself when its channel closes. */
  readonly script: string;
  readonly args: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its output goes. */
  readonly logFile: string;
  /** Resolves once this life of it is ready for work; asked again until then. */
  isReady(child: ChildProcess): Promise<boolean>;
}

/** How a life has ended that was asked to. */
export interface Rolled {
  readonly exitCode: number | null;
  /** Epoch milliseconds. */
  readonly goneAt: number;
}

/** Where one process lives after the other, as under an orchestrator: whatever ends is started again. */
export interface ProcessSlot {
  readonly name: string;
  /** SIGKILL; the next life begins after `downMs`. Resolves when it is ready. */
  kill(downMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT after `forMs`. */
  freeze(forMs: number): Promise<void>;
  /** SIGTERM, and the next life once it has ended. Resolves when that is ready. */
  roll(): Promise<Rolled>;
  /** Resolves when what lives there is ready. */
  ready(): Promise<void>;
  /** Lives that have ended though nobody ended them, after they were ready. */
  readonly surprises: readonly string[];
  /** Lives that have ended before they were ready: what they need was away. */
  readonly refusals: number;
  stop(): Promise<void>;
}

const pollMs = 50;
/** Before one that did not come up is started again. */
const retryMs = 500;

export const openProcessSlot = (options: ProcessSlotOptions): ProcessSlot => {
  const surprises: string[] = [];
  let refusals = 0;
  let isOver = false;
  let downMs = 0;
  /** Somebody ends this life. */
  let isEnding = false;
  let isReady = false;
  let child: ChildProcess | undefined;

  const begin = (): ChildProcess => {
    const log = openSync(options.logFile, "a");
    const { script, args, execArgv = [], env = {} } = options;
    const begun = fork(script, args, {
      execArgv: [...execArgv],
      env: { ...process.env, ...env },
      stdio: ["ignore", log, log, "ipc"],
    });
    closeSync(log);
    return begun;
  };
  const watchReadiness = async (begun: ChildProcess): Promise<void> => {
    while (begun.exitCode === null && begun.signalCode === null && !isOver) {
      if (await options.isReady(begun)) {
        isReady = begun === child;
        return;
      }
      await pause(pollMs);
    }
  };
  const live = async (): Promise<void> => {
    while (!isOver) {
      isEnding = false;
      isReady = false;
      const begun = begin();
      child = begun;
      const gone = once(begun, "exit");
      void watchReadiness(begun);
      await gone;
      const wasReady = isReady;
      isReady = false;
      if (isOver) return;
      if (!isEnding && wasReady) surprises.push(`${options.name} has ended with ${begun.signalCode ?? begun.exitCode}`);
      if (!isEnding && !wasReady) refusals += 1;
      await pause(isEnding ? downMs : retryMs);
    }
  };
  const life = live();
  const ready = async (): Promise<void> => {
    while (!isReady && !isOver) await pause(pollMs);
  };
  const end = async (signal: NodeJS.Signals, unavailable: number): Promise<number | null> => {
    const ending = child;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return null;
    const gone = once(ending, "exit");
    isEnding = true;
    isReady = false;
    downMs = unavailable;
    ending.kill(signal);
    await gone;
    return ending.exitCode;
  };
  return {
    name: options.name,
    surprises,
    get refusals() {
      return refusals;
    },
    ready,
    kill: async (unavailable) => {
      await end("SIGKILL", unavailable);
      await ready();
    },
    freeze: async (forMs) => {
      const frozen = child;
      frozen?.kill("SIGSTOP");
      await pause(forMs);
      frozen?.kill("SIGCONT");
    },
    roll: async () => {
      const exitCode = await end("SIGTERM", 0);
      const goneAt = Date.now();
      await ready();
      return { exitCode, goneAt };
    },
    stop: async () => {
      isOver = true;
      child?.kill("SIGKILL");
      await life;
    },
  };
};
