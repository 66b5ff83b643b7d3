import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BridgeErrorCode, ExecutionFailure, ExecutionProgress, ExecutionQuestion } from "@taskbridge/core/adapter";
import type { ProcessIdentity } from "./process-identity.ts";

/** Names inside a job's folder. Those without an ending are folders, claimed by renaming a full one into place. */
export const jobFile = {
  spec: "spec.json",
  input: "input.json",
  state: "state.json",
  end: "end.json",
  result: "result.json",
  stdout: "stdout.log",
  stderr: "stderr.log",
  supervisorLog: "supervisor.log",
  cancel: "cancel",
  inbox: "inbox",
} as const;

/** Exit code of a supervisor that found the disk full, and ran nothing. */
export const noRoomCode = 28;

/** What is to be run, written once before anything else. */
export interface JobSpec {
  readonly version: 1;
  readonly key: string;
  /** SHA-256 of target and input: what a repeated start must agree with. */
  readonly hash: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** As the target names it: callers need not know where on the disk that is. */
  readonly givenCwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly maxOutputBytes: number;
  readonly createdAt: number;
  readonly createdBy: ProcessIdentity;
}

export interface OpenQuestion extends ExecutionQuestion {
  /** What the job called it. */
  readonly key: string;
}

/** A job whose command was spawned, replaced at every change. */
export interface JobState {
  readonly version: 1;
  readonly supervisor: ProcessIdentity;
  /** The command; its PID is also its process group. */
  readonly child: ProcessIdentity;
  readonly startedAt: number;
  readonly progress?: ExecutionProgress;
  readonly questions: readonly OpenQuestion[];
  readonly warnings: readonly string[];
}

/** Why the command could not be started at all; the same answer for every repeated start. */
export interface Refusal {
  readonly code: BridgeErrorCode;
  readonly path: string;
  readonly message: string;
}

/** The last word on a job, written once. */
export interface JobEnd {
  readonly version: 1;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly startedAt?: number;
  readonly endedAt: number;
  readonly failure?: ExecutionFailure;
  readonly refusal?: Refusal;
  readonly output?: { readonly kind: "json" | "text"; readonly bytes: number };
  readonly progress?: ExecutionProgress;
  /** IDs of the questions that nobody answered. */
  readonly unanswered: readonly string[];
  readonly warnings: readonly string[];
}

export interface AnswerRecord {
  readonly questionId: string;
  readonly answerId: string;
  readonly at: number;
  readonly action: string;
  readonly content?: unknown;
}

export interface CancelRecord {
  readonly reason: string;
}

export const jobFolder = (directory: string, key: string): string => join(directory, key);
/** The one folder that is watched: an empty file for each job that runs, touched when it changes and gone when it ended. */
export const eventFolder = (directory: string): string => join(directory, ".events");
export const eventFile = (folder: string, key: string): string => join(eventFolder(dirname(folder)), key);

export const errnoOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
};

export const isMissing = (error: unknown): boolean => errnoOf(error) === "ENOENT";

/** A record of ours. Undefined when there is none. */
export const readRecord = async <Shape>(path: string): Promise<Shape | undefined> => {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Shape;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

export const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export const writeDurably = async (path: string, content: string): Promise<void> => {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Makes a folder with these files in one step, durably, unless one of that name exists. Renaming onto a folder that is
 * not empty fails on every file system, which hard links and O_EXCL (half-written by a writer that died) do not offer.
 */
export const claimFolder = async (path: string, files: Readonly<Record<string, string>>): Promise<boolean> => {
  const draft = join(dirname(path), `.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(draft, { mode: 0o700 });
    await Promise.all(Object.entries(files).map(([name, content]) => writeDurably(join(draft, name), content)));
    await syncFolder(draft);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (errnoOf(error) === "ENOTEMPTY" || errnoOf(error) === "EEXIST") return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
};
