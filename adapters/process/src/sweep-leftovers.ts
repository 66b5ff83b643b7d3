import { randomBytes } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isKey } from "./execution-ref.ts";
import { readStage } from "./inspect-job.ts";
import { eventFolder, isMissing, jobFolder } from "./job-folder.ts";

/** Younger than this (milliseconds), a draft may still be written to, and a start that was interrupted be repeated. */
const draftMs = 60 * 60 * 1000;
const unrunMs = 24 * 60 * 60 * 1000;

/** Removes a job's folder. Renamed first, so that half of a job is never seen. */
export const removeJob = async (directory: string, key: string): Promise<void> => {
  const trash = join(directory, `.trash-${randomBytes(6).toString("hex")}`);
  try {
    await rename(jobFolder(directory, key), trash);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await rm(join(eventFolder(directory), key), { force: true });
  await rm(trash, { recursive: true, force: true });
};

const ageOf = async (path: string): Promise<number> => Date.now() - (await stat(path)).mtimeMs;

/** True for a job that ran nothing and that nobody will come back to. */
const isLeftover = async (directory: string, key: string): Promise<boolean> => {
  const folder = jobFolder(directory, key);
  if ((await ageOf(folder)) < unrunMs) return false;
  const stage = await readStage(folder);
  return (stage.kind === "unrun" && !stage.busy) || (stage.kind === "ended" && stage.end.refusal !== undefined);
};

/** Removes what starts that were interrupted or refused have left: their inputs may hold secrets. */
export const sweepLeftovers = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    try {
      if (name.startsWith(".trash-")) await rm(path, { recursive: true, force: true });
      else if (name.startsWith(".new-") && (await ageOf(path)) > draftMs)
        await rm(path, { recursive: true, force: true });
      else if (isKey(name) && (await isLeftover(directory, name))) await removeJob(directory, name);
    } catch (error) {
      // Somebody else was faster; what remains is met by the next sweep.
      if (!isMissing(error)) return;
    }
  }
};

/** Event files of jobs that are over: their supervisors could not remove them. Returns the keys of the others. */
export const sweepEvents = async (directory: string): Promise<readonly string[]> => {
  const running: string[] = [];
  for (const key of (await readdir(eventFolder(directory))).filter(isKey)) {
    const stage = await readStage(jobFolder(directory, key)).catch(() => undefined);
    if (stage === undefined || stage.kind === "running" || stage.kind === "orphaned") running.push(key);
    else await rm(join(eventFolder(directory), key), { force: true });
  }
  return running;
};
