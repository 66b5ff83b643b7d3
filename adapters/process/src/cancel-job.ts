import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BridgeError } from "@taskbridge/core/adapter";
import { readStage } from "./inspect-job.ts";
import {
  type CancelRecord,
  claimFolder,
  eventFile,
  type JobEnd,
  type JobSpec,
  type JobState,
  jobFile,
  readRecord,
  syncFolder,
} from "./job-folder.ts";
import { signalGroup, stopGroup, vanishMs, waitForEmptyGroup } from "./process-group.ts";
import { findProcess, type ProcessIdentity, thisProcess } from "./process-identity.ts";
import { claimRun } from "./run-claim.ts";

const hasSupervisor = (owner: ProcessIdentity): Promise<boolean> =>
  findProcess(owner).then((found) => found === "alive");

/** Tells a supervisor that there is a request. Lost on one that is not listening yet; it looks by itself, too. */
export const wakeSupervisor = async (supervisor: ProcessIdentity): Promise<void> => {
  if (!(await hasSupervisor(supervisor))) return;
  try {
    process.kill(supervisor.pid, "SIGCONT");
  } catch {
    // It ended just now.
  }
};

const writeEnd = async (folder: string, key: string, reason: string, startedAt?: number): Promise<void> => {
  const end: JobEnd = {
    version: 1,
    status: "cancelled",
    endedAt: Date.now(),
    ...(startedAt === undefined ? {} : { startedAt }),
    failure: { kind: "job", reason: `cancelled: ${reason}` },
    unanswered: [],
    warnings: [],
  };
  const draft = join(folder, `.end-by-${process.pid}`);
  await writeFile(draft, JSON.stringify(end), { mode: 0o600, flush: true });
  await rename(draft, join(folder, jobFile.end));
  await syncFolder(folder);
  await rm(join(folder, jobFile.input), { force: true });
  await rm(eventFile(folder, key), { force: true });
};

/** The supervisor is dead: what it would have done. */
const stopOrphan = async (
  folder: string,
  key: string,
  { child, startedAt }: JobState,
  reason: string,
): Promise<void> => {
  const spec = await readRecord<JobSpec>(join(folder, jobFile.spec));
  if ((await findProcess(child)) !== "alive") return;
  const graceMs = spec?.graceMs ?? 0;
  const callOff = stopGroup(child.pid, graceMs);
  await waitForEmptyGroup(child.pid, graceMs + vanishMs);
  callOff();
  if (signalGroup(child.pid, 0) && (await findProcess(child)) === "alive") {
    throw new BridgeError("unavailable", `process ${child.pid} does not end`, { operation: "cancel" });
  }
  await writeEnd(folder, key, reason, startedAt);
};

/**
 * Stops a job. Resolves when its end is certain: the request is durable and a living supervisor sees to it, or nothing
 * runs any more.
 */
export const cancelJob = async (folder: string, key: string, reason: string): Promise<void> => {
  const first = await readStage(folder);
  if (first.kind === "missing") throw new BridgeError("not_found", `no such job: ${folder}`, { operation: "cancel" });
  if (first.kind === "ended" || first.kind === "lost") return;
  const request: CancelRecord = { reason };
  await claimFolder(join(folder, jobFile.cancel), { "request.json": JSON.stringify(request) });
  // Nobody has claimed the run: claiming it here is what keeps everybody else from running the command.
  if (first.kind === "unrun" && (await claimRun(folder, await thisProcess())) !== undefined)
    return writeEnd(folder, key, reason);
  const stage = await readStage(folder);
  if (stage.kind === "running") await wakeSupervisor(stage.supervisor);
  if (stage.kind === "orphaned") await stopOrphan(folder, key, stage.state, reason);
};
