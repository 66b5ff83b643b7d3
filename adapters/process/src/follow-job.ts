import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type JobSpec, jobFile } from "./job-folder.ts";
import type { JobJournal } from "./job-journal.ts";
import { jobOutput } from "./job-output.ts";
import type { JobPipes } from "./job-pipes.ts";
import { jobRecord } from "./job-record.ts";
import { jobRequests } from "./job-requests.ts";
import { jobStreams } from "./job-streams.ts";
import { vanishMs, waitForEmptyGroup } from "./process-group.ts";
import { type ProcessIdentity, readStartTime } from "./process-identity.ts";
import { toEnd } from "./to-end.ts";

/** What is kept for a job that asks more than it may and does not read the answers (bytes, beside its input). */
const maxUnread = 1024 * 1024;

export interface RunningJob {
  readonly folder: string;
  readonly spec: JobSpec;
  readonly journal: JobJournal;
  readonly pipes: JobPipes;
  readonly child: ChildProcess;
  readonly supervisor: ProcessIdentity;
  /** The first line of stdin. */
  readonly input: string;
}

/** How the supervisor hears of requests, and where the tests make it die. */
export interface SupervisorHooks {
  onWake(wake: () => void): void;
  reached(point: "claimed" | "marked" | "spawned" | "recorded"): void;
}

/** Follows a spawned command to its end. Resolves when that is written. */
export const followJob = async (job: RunningJob, hooks: SupervisorHooks): Promise<void> => {
  const { folder, spec, journal, child, pipes, supervisor } = job;
  const group = child.pid as number;
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const startTime = (await readStartTime(group)) ?? "";
  const stdin = pipes.stdin ?? child.stdin;
  // A command that does not read its input is no failure.
  stdin?.on("error", () => {});
  const maxWaiting = Buffer.byteLength(job.input) + maxUnread;
  const record = jobRecord({
    journal,
    supervisor,
    child: { ...supervisor, pid: group, startTime },
    sendLine: (line) => {
      if (stdin === null || stdin.writableLength > maxWaiting) return false;
      stdin.write(line);
      return true;
    },
  });
  const output = jobOutput({
    folder,
    maxBytes: spec.maxOutputBytes,
    warn: record.warn,
    report: (json) => record.report(json, output.keepResult),
  });
  record.publish(true);
  hooks.reached("recorded");

  stdin?.write(job.input);
  rmSync(join(folder, jobFile.input), { force: true });
  const streams = jobStreams(
    [
      [pipes.stdout ?? child.stdout, output.stdout],
      [pipes.stderr ?? child.stderr, output.stderr],
    ],
    record.warn,
  );
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const requests = jobRequests({ folder, group, graceMs: spec.graceMs, record, stdin, hasExited });
  hooks.onWake(requests.check);
  requests.check();

  const exit = await exited;
  const stopped = await requests.end();
  if (stopped !== undefined) await waitForEmptyGroup(group, spec.graceMs + vanishMs);
  stopped?.callOff();
  await streams.drain();
  const { output: produced, missing } = output.end();
  const { startedAt, progress, failure, warnings, dispatcher } = record;
  await journal.end({
    version: 1,
    startedAt,
    endedAt: Date.now(),
    ...toEnd({
      ...exit,
      stopped: stopped?.reason,
      reported: failure,
      stderrTail: output.stderrTail(),
      output: produced,
      missing,
    }),
    ...(progress === undefined ? {} : { progress }),
    unanswered: dispatcher.open().map((question) => question.id),
    warnings,
  });
};
