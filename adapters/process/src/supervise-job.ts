import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { followJob, type SupervisorHooks } from "./follow-job.ts";
import { type JobEnd, type JobSpec, jobFile, type Refusal, readRecord } from "./job-folder.ts";
import { dropJournal, type JobJournal, jobJournal } from "./job-journal.ts";
import { type JobPipes, openJobPipes } from "./job-pipes.ts";
import { type ProcessIdentity, thisProcess } from "./process-identity.ts";
import { claimRun, markSpawning, type RunClaim, returnRun } from "./run-claim.ts";
import { toRefusal } from "./to-refusal.ts";

const endUnrun = (end: Partial<JobEnd>): JobEnd => ({
  version: 1,
  status: "failed",
  endedAt: Date.now(),
  unanswered: [],
  warnings: [],
  ...end,
});

const refuse = (journal: JobJournal, folder: string, refusal: Refusal): Promise<void> => {
  // Nothing will ever read it, and it may hold secrets.
  rmSync(join(folder, jobFile.input), { force: true });
  return journal.end(endUnrun({ refusal, failure: { kind: "protocol", reason: refusal.message } }));
};

const findMissingFolder = ({ cwd, givenCwd = cwd }: JobSpec): Refusal | undefined =>
  statSync(cwd, { throwIfNoEntry: false })?.isDirectory()
    ? undefined
    : { code: "misconfigured", path: "cwd", message: `cwd: no folder ${JSON.stringify(givenCwd)}` };

interface ClaimedJob {
  readonly folder: string;
  readonly spec: JobSpec;
  readonly journal: JobJournal;
  readonly claim: RunClaim;
  readonly supervisor: ProcessIdentity;
  readonly pipes: Promise<JobPipes>;
}

/** The child, or why there is none: `spawn` throws some errors and emits others. */
const spawnCommand = async ({ command, cwd, env }: JobSpec, pipes: JobPipes): Promise<ChildProcess | Error> => {
  const [program = "", ...args] = command;
  try {
    const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: [...pipes.stdio] });
    if (child.pid !== undefined) return child;
    const [error] = await once(child, "error");
    return error;
  } catch (error) {
    return error as Error;
  } finally {
    pipes.spawned();
  }
};

const spawnAndFollow = async (job: ClaimedJob, hooks: SupervisorHooks): Promise<void> => {
  const { folder, spec, journal, claim, supervisor } = job;
  const [input, pipes] = await Promise.all([readFile(join(folder, jobFile.input), "utf8"), job.pipes]);
  await markSpawning(claim);
  hooks.reached("marked");
  const child = await spawnCommand(spec, pipes);
  if (!(child instanceof Error)) {
    hooks.reached("spawned");
    return followJob({ folder, spec, journal, pipes, child, supervisor, input }, hooks);
  }
  const refusal = await toRefusal(child, spec);
  if (refusal !== undefined) return refuse(journal, folder, refusal);
  dropJournal(folder, spec.key);
  return returnRun(claim, child.message);
};

/** Runs the job in `folder`, unless somebody else does or did. */
export const superviseJob = async (folder: string, hooks: SupervisorHooks): Promise<void> => {
  // Takes as long as everything up to where it is needed.
  const pipes = openJobPipes(folder);
  const [spec, supervisor] = await Promise.all([readRecord<JobSpec>(join(folder, jobFile.spec)), thisProcess()]);
  if (spec === undefined || existsSync(join(folder, jobFile.end))) return;
  const claim = await claimRun(folder, supervisor);
  if (claim === undefined) return;
  hooks.reached("claimed");
  const journal = jobJournal(folder, spec.key);
  if (existsSync(join(folder, jobFile.cancel))) {
    return journal.end(
      endUnrun({ status: "cancelled", failure: { kind: "job", reason: "cancelled before the command was started" } }),
    );
  }
  const missingFolder = findMissingFolder(spec);
  if (missingFolder !== undefined) return refuse(journal, folder, missingFolder);
  return spawnAndFollow({ folder, spec, journal, claim, supervisor, pipes }, hooks);
};
