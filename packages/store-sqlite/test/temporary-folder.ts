import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "@jest/globals";
import { type BridgeError, isBridgeError } from "@taskbridge/core/store";

const running = new Set<ChildProcess>();

/** Gives each test of a file its own empty folder; returns what builds paths in it. */
export const useTemporaryFolder = (): ((name: string) => string) => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "store-sqlite-"));
  });
  afterEach(() => {
    // Only a test that failed leaves any.
    for (const child of running) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return (name) => join(folder, name);
};

export interface Fixture {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  /** Resolves with exit code and signal. */
  readonly exit: Promise<unknown[]>;
}

/** Runs a script of `fixtures` in a process of its own. */
export const runFixture = (name: string, ...args: readonly string[]): Fixture => {
  const script = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), exit: once(child, "exit") };
};

/** What a promise rejects with; fails when it resolves or when that is no BridgeError. */
export const rejectionOf = async (promise: Promise<unknown>): Promise<BridgeError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isBridgeError(error)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};
