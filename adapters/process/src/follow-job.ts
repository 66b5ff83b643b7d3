import type { ChildProcess } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionFailure, ExecutionProgress } from "@taskbridge/core/adapter";
import { type CancelRecord, type JobSpec, type JobState, jobFile, readRecord } from "./job-folder.ts";
import type { JobJournal } from "./job-journal.ts";
import { jobOutput } from "./job-output.ts";
import type { JobPipes } from "./job-pipes.ts";
import { parseReport } from "./parse-report.ts";
import { stopGroup, waitForEmptyGroup } from "./process-group.ts";
import { type ProcessIdentity, readStartTime } from "./process-identity.ts";
import { questionDesk, readAnswers } from "./question-desk.ts";
import { toEnd } from "./to-end.ts";

/** Requests are signalled; looking by itself this often (milliseconds) only covers a signal that was lost. */
const lookMs = 1000;
/** After the command's end: how long to wait for output of processes it left behind, since the last of it and in all. */
const drainIdleMs = 50;
const drainMs = 1000;
/** How long a killed group may take to vanish. */
const vanishMs = 2000;
const keptWarnings = 20;

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

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

interface Facts {
  progress: ExecutionProgress | undefined;
  reported: ExecutionFailure | undefined;
  readonly warnings: string[];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Hands on what streams give; `drained` resolves when they end, or when nothing comes any more. */
const pumpStreams = (pairs: readonly (readonly [NodeJS.ReadableStream | null, (chunk: Buffer) => void])[]) => {
  let lastAt = 0;
  const ended = Promise.all(
    pairs.map(
      ([stream, take]) =>
        new Promise<void>((resolve) => {
          stream?.on("data", (chunk: Buffer) => {
            lastAt = performance.now();
            take(chunk);
          });
          stream?.once("end", resolve).once("error", () => resolve());
        }),
    ),
  );
  const isQuiet = async (): Promise<void> => {
    const endsAt = performance.now() + drainMs;
    lastAt = performance.now();
    while (performance.now() < Math.min(endsAt, lastAt + drainIdleMs)) await pause(drainIdleMs / 5);
  };
  return {
    async drained(): Promise<void> {
      await Promise.race([ended, isQuiet()]);
      for (const [stream] of pairs) stream?.removeAllListeners("data");
    },
  };
};

/** Follows a spawned command to its end. Resolves when that is written. */
export const followJob = async (job: RunningJob, hooks: SupervisorHooks): Promise<void> => {
  const { folder, spec, journal, child, pipes } = job;
  const group = child.pid as number;
  const startedAt = Date.now();
  const facts: Facts = { progress: undefined, reported: undefined, warnings: [] };
  const desk = questionDesk();
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      exit = { exitCode, signal };
      resolve(exit);
    });
  });
  const startTime = (await readStartTime(group)) ?? "";

  const state = (): JobState => ({
    version: 1,
    supervisor: job.supervisor,
    child: { ...job.supervisor, pid: group, startTime },
    startedAt,
    ...(facts.progress === undefined ? {} : { progress: facts.progress }),
    questions: desk.open(),
    warnings: facts.warnings,
  });
  const warn = (message: string): void => {
    if (facts.warnings.length < keptWarnings) facts.warnings.push(message);
  };
  const takeReport = (json: string): boolean => {
    const report = parseReport(json);
    if (report === undefined) {
      warn(`not a report: ${json.slice(0, 200).trimEnd()}`);
      return false;
    }
    if (report.result !== undefined) output.keepResult(report.result);
    facts.reported = report.failure ?? facts.reported;
    facts.progress = report.progress ?? facts.progress;
    if (report.ask !== undefined && !desk.ask(report.ask)) warn(`too many open questions to ask ${report.ask.key}`);
    journal.publish(state, report.ask !== undefined);
    return true;
  };
  const output = jobOutput({ folder, maxBytes: spec.maxOutputBytes, warn, report: takeReport });
  const streams = pumpStreams([
    [pipes.stdout ?? child.stdout, output.stdout],
    [pipes.stderr ?? child.stderr, output.stderr],
  ]);
  const stdin = pipes.stdin ?? child.stdin;
  // A command that does not read its input is no failure.
  stdin?.on("error", () => {});

  let stopped: { readonly reason: string; readonly callOff: () => void } | undefined;
  const look = async (): Promise<void> => {
    if (stopped === undefined && existsSync(join(folder, jobFile.cancel))) {
      const request = await readRecord<CancelRecord>(join(folder, jobFile.cancel, "request.json"));
      if (exit === undefined) stopped = { reason: request?.reason ?? "", callOff: stopGroup(group, spec.graceMs) };
    }
    const answers = desk.open().length === 0 ? [] : await readAnswers(folder);
    for (const answer of answers) {
      const line = exit === undefined ? desk.take(answer) : undefined;
      if (line === undefined) continue;
      stdin?.write(line);
      journal.publish(state, true);
    }
  };
  let looking = Promise.resolve();
  const lookAgain = (): void => {
    looking = looking.then(look).catch((error: unknown) => warn(String(error)));
  };

  journal.publish(state, true);
  hooks.reached("recorded");
  stdin?.write(job.input);
  rmSync(join(folder, jobFile.input), { force: true });
  hooks.onWake(lookAgain);
  const timer = setInterval(lookAgain, lookMs);
  lookAgain();

  const ended = await exited;
  await looking;
  clearInterval(timer);
  if (stopped !== undefined) await waitForEmptyGroup(group, spec.graceMs + vanishMs);
  stopped?.callOff();
  await streams.drained();
  const { output: produced, missing } = output.end();
  await journal.end({
    version: 1,
    startedAt,
    endedAt: Date.now(),
    ...toEnd({
      ...ended,
      stopped: stopped?.reason,
      reported: facts.reported,
      stderrTail: output.stderrTail(),
      output: produced,
      missing,
    }),
    ...(facts.progress === undefined ? {} : { progress: facts.progress }),
    unanswered: desk.open().map((question) => question.id),
    warnings: facts.warnings,
  });
};
