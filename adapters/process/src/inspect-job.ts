import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ExecutionSnapshot, type InspectOutcome, inlineOutputBytes } from "@taskbridge/core/adapter";
import { isMissing, type JobEnd, type JobSpec, type JobState, jobFile, jobFolder, readRecord } from "./job-folder.ts";
import { findProcess, type Liveness, type ProcessIdentity } from "./process-identity.ts";
import { maySpawn, readRunClaim } from "./run-claim.ts";
import { endedSnapshot, runningSnapshot } from "./to-snapshot.ts";

/** What a job's files and the process table say together. */
export type JobStage =
  | { readonly kind: "missing" }
  /** Nothing was spawned. `claimed`: by a supervisor; `busy`: who claimed or made the job still lives. */
  | { readonly kind: "unrun"; readonly claimed: boolean; readonly busy: boolean }
  /** The supervisor lives. `state` is absent for the moment between spawning and the first record. */
  | { readonly kind: "running"; readonly supervisor: ProcessIdentity; readonly state?: JobState }
  /** The supervisor is dead and the command is not. */
  | { readonly kind: "orphaned"; readonly state: JobState }
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "ended"; readonly end: JobEnd };

const gone: Readonly<Record<Exclude<Liveness, "alive" | "dead">, (owner: ProcessIdentity) => string>> = {
  "other-boot": () => "the host was rebooted while the command ran",
  "other-host": ({ host }) => `the command was started on another host or in another container (${host})`,
};

/** A torn record can only be one that was not synced before a crash of the host; the boot ID then tells. */
const readState = (folder: string): Promise<JobState | undefined> =>
  readRecord<JobState>(join(folder, jobFile.state)).catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });

const readEnd = (folder: string): Promise<JobEnd | undefined> => readRecord<JobEnd>(join(folder, jobFile.end));

const readUnrecorded = async (folder: string): Promise<JobStage> => {
  const spec = await readRecord<JobSpec>(join(folder, jobFile.spec));
  if (spec === undefined) return { kind: "missing" };
  const claim = await readRunClaim(folder);
  if (claim === undefined) {
    return { kind: "unrun", claimed: false, busy: (await findProcess(spec.createdBy)) === "alive" };
  }
  const liveness = await findProcess(claim.owner);
  const spawned = await maySpawn(claim);
  if (liveness === "other-host" || (spawned && liveness === "other-boot")) {
    return { kind: "lost", reason: gone[liveness](claim.owner) };
  }
  if (!spawned) return { kind: "unrun", claimed: true, busy: liveness === "alive" };
  if (liveness === "alive") return { kind: "running", supervisor: claim.owner };
  return { kind: "lost", reason: "its supervisor was killed as it started the command" };
};

const readRecorded = async (state: JobState): Promise<JobStage> => {
  const liveness = await findProcess(state.supervisor);
  if (liveness === "alive") return { kind: "running", supervisor: state.supervisor, state };
  if (liveness !== "dead") return { kind: "lost", reason: gone[liveness](state.supervisor) };
  if ((await findProcess(state.child)) === "alive") return { kind: "orphaned", state };
  return { kind: "lost", reason: "its supervisor was killed, so how the command ended is not known" };
};

/** Where a job stands. */
export const readStage = async (folder: string): Promise<JobStage> => {
  const early = await readEnd(folder);
  if (early !== undefined) return { kind: "ended", end: early };
  const state = await readState(folder);
  const stage = await (state === undefined ? readUnrecorded(folder) : readRecorded(state));
  if (stage.kind === "running") return stage;
  // It may have been recorded, and have ended, and its supervisor with it, since the first look.
  const end = await readEnd(folder);
  if (end !== undefined) return { kind: "ended", end };
  const late = state === undefined && stage.kind === "lost" ? await readState(folder) : undefined;
  return late === undefined ? stage : readRecorded(late);
};

/** The file that holds an execution's output. */
export const outputPath = (folder: string, output: NonNullable<JobEnd["output"]>): string =>
  join(folder, output.kind === "json" ? jobFile.result : jobFile.stdout);

/** The snapshot of a job that has one. */
export const readSnapshot = async (folder: string, stage: JobStage): Promise<ExecutionSnapshot | undefined> => {
  if (stage.kind === "running") return stage.state === undefined ? { status: "running" } : runningSnapshot(stage.state);
  // Without its supervisor nobody can hand an answer to the command.
  if (stage.kind === "orphaned") return runningSnapshot({ ...stage.state, questions: [] });
  if (stage.kind === "unrun") return stage.busy ? { status: "queued" } : undefined;
  if (stage.kind !== "ended") return undefined;
  const { output } = stage.end;
  const isInline = output !== undefined && output.bytes <= inlineOutputBytes;
  return endedSnapshot(stage.end, isInline ? await readFile(outputPath(folder, output), "utf8") : undefined);
};

const explainMissing = async (directory: string): Promise<InspectOutcome> => {
  try {
    await stat(directory);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { unavailable: `the directory ${directory} does not exist` };
  }
  // Deleted by somebody, or the directory is not the one it was: not for us to tell.
  return { notFound: { proven: false, reason: `no such job in ${directory}` } };
};

/** Looks at one job. */
export const inspectJob = async (directory: string, key: string): Promise<InspectOutcome> => {
  const folder = jobFolder(directory, key);
  const stage = await readStage(folder);
  if (stage.kind === "missing") return explainMissing(directory);
  if (stage.kind === "lost") return { notFound: { proven: true, reason: stage.reason } };
  const snapshot = await readSnapshot(folder, stage);
  if (snapshot === undefined)
    return { notFound: { proven: false, reason: "its start was interrupted before the command was run" } };
  return { snapshot };
};
