import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { claimFolder, isMissing, readRecord, syncFolder, writeDurably } from "./job-folder.ts";
import { findProcess, type ProcessIdentity } from "./process-identity.ts";

/**
 * The right to run a job's command, one folder `run.<n>` each. A claim whose owner died may be followed by the next one
 * only when it was certainly not used: its owner writes `spawning` into it, durably, before it spawns anything.
 */
export interface RunClaim {
  readonly number: number;
  readonly folder: string;
  readonly owner: ProcessIdentity;
}

const ownerFile = "owner.json";
const spawningFile = "spawning";
const returnedFile = "returned";

/** The newest claim. Undefined when nobody made one. */
export const readRunClaim = async (jobPath: string): Promise<RunClaim | undefined> => {
  const names = await readdir(jobPath);
  const number = Math.max(0, ...names.map((name) => Number(/^run\.(\d+)$/.exec(name)?.[1] ?? 0)));
  if (number === 0) return undefined;
  const folder = join(jobPath, `run.${number}`);
  const owner = await readRecord<ProcessIdentity>(join(folder, ownerFile));
  return owner === undefined ? undefined : { number, folder, owner };
};

/** True when the command may have been spawned under this claim. */
export const maySpawn = async (claim: RunClaim): Promise<boolean> => {
  const names = await readdir(claim.folder);
  return names.includes(spawningFile) && !names.includes(returnedFile);
};

const isFree = async (claim: RunClaim): Promise<boolean> => {
  if ((await readdir(claim.folder)).includes(returnedFile)) return true;
  const liveness = await findProcess(claim.owner);
  if (liveness === "alive" || liveness === "other-host") return false;
  // Read after the death is certain: only a living owner writes the mark.
  return !(await maySpawn(claim));
};

/** Claims the run for this process. Undefined when another has it, or when the command may have run already. */
export const claimRun = async (jobPath: string, owner: ProcessIdentity): Promise<RunClaim | undefined> => {
  for (;;) {
    const last = await readRunClaim(jobPath);
    if (last !== undefined && !(await isFree(last))) return undefined;
    const number = (last?.number ?? 0) + 1;
    const folder = join(jobPath, `run.${number}`);
    if (await claimFolder(folder, { [ownerFile]: JSON.stringify(owner) })) return { number, folder, owner };
  }
};

export const markSpawning = async (claim: RunClaim): Promise<void> => {
  await writeDurably(join(claim.folder, spawningFile), "");
  await syncFolder(claim.folder);
};

/** Gives an unused claim back: nothing was spawned, and trying again may succeed. */
export const returnRun = async (claim: RunClaim, reason: string): Promise<void> => {
  await writeDurably(join(claim.folder, returnedFile), reason);
};

/** Why the claim was given back. Undefined when it was not. */
export const readReturnReason = async (claim: RunClaim): Promise<string | undefined> => {
  return readFile(join(claim.folder, returnedFile), "utf8").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
};
