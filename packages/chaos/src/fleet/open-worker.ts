import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WorkerLine } from "../checks/evidence.ts";
import { compiledProgram } from "./compiled-program.ts";
import { openProcessSlot, type ProcessSlot } from "./process-slot.ts";
import { queueName, queuePrefix } from "./write-config.ts";

const ledgerFile = (folder: string, index: number): string => join(folder, `worker-${index}.ledger`);

/** A worker of the queue. `queueUrl`: of its Redis, without any fault between. */
export const openWorker = (folder: string, queueUrl: string, index: number): ProcessSlot => {
  const ready = new WeakMap<ChildProcess, Promise<boolean>>();
  return openProcessSlot({
    name: `worker-${index}`,
    script: compiledProgram("worker.js"),
    args: [queueUrl, queuePrefix, queueName, ledgerFile(folder, index)],
    logFile: join(folder, `worker-${index}.log`),
    isReady: (child) => {
      const reported =
        ready.get(child) ??
        Promise.race([once(child, "message").then(() => true), once(child, "exit").then(() => false)]);
      ready.set(child, reported);
      return reported;
    },
  });
};

/** Everything that workers have written down. */
export const readWorkerLines = async (folder: string, workers: number): Promise<readonly WorkerLine[]> => {
  const texts = await Promise.all(
    Array.from({ length: workers }, (_, index) => readFile(ledgerFile(folder, index), "utf8").catch(() => "")),
  );
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as WorkerLine);
};
