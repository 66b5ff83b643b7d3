import type { ExecutionFailure, ExecutionProgress } from "@taskbridge/core/adapter";
import type { JobState } from "./job-folder.ts";
import type { JobJournal } from "./job-journal.ts";
import { type Ask, parseReport } from "./parse-report.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { maxOpen, type QuestionDispatcher, questionDispatcher, toAnswerLine } from "./question-dispatcher.ts";

const keptWarnings = 20;

/** What is known of a job while it runs, published whenever it changes. */
export interface JobRecord {
  readonly dispatcher: QuestionDispatcher;
  readonly startedAt: number;
  readonly progress: ExecutionProgress | undefined;
  /** What the job itself reported as its failure. */
  readonly failure: ExecutionFailure | undefined;
  readonly warnings: readonly string[];
  warn(message: string): void;
  /** Takes the JSON of a report line; its result goes to `keepResult`. False: it is none. */
  report(json: string, keepResult: (json: string) => void): boolean;
  publish(urgent: boolean): void;
}

export interface JobRecordOptions {
  readonly journal: JobJournal;
  readonly supervisor: ProcessIdentity;
  readonly child: ProcessIdentity;
  /** Writes to the job's stdin. False: the job leaves so much unread that this is not kept for it. */
  sendLine(line: string): boolean;
}

export const jobRecord = ({ journal, supervisor, child, sendLine }: JobRecordOptions): JobRecord => {
  const startedAt = Date.now();
  const dispatcher = questionDispatcher();
  const warnings: string[] = [];
  let progress: ExecutionProgress | undefined;
  let failure: ExecutionFailure | undefined;

  const state = (): JobState => ({
    version: 1,
    supervisor,
    child,
    startedAt,
    ...(progress === undefined ? {} : { progress }),
    questions: dispatcher.open(),
    warnings,
  });
  /** True when the question is open. One that is not put to anybody is answered at once: the job must not wait for ever. */
  const ask = (question: Ask): boolean => {
    if (dispatcher.ask(question)) return true;
    const isSent = sendLine(toAnswerLine(question.key, { action: "cancel" }));
    record.warn(
      isSent
        ? `more than ${maxOpen} open questions: the others were answered with cancel`
        : `more than ${maxOpen} open questions, and a job that does not read: some were not answered at all`,
    );
    return false;
  };
  const record: JobRecord = {
    dispatcher,
    startedAt,
    warnings,
    get progress() {
      return progress;
    },
    get failure() {
      return failure;
    },
    warn(message) {
      if (warnings.length >= keptWarnings || warnings.includes(message)) return;
      warnings.push(message);
      record.publish(false);
    },
    report(json, keepResult) {
      const report = parseReport(json);
      if (report === undefined) {
        record.warn(`not a report: ${json.slice(0, 200).trimEnd()}`);
        return false;
      }
      if (report.isAskRefused) record.warn(`not a question: ${json.slice(0, 200).trimEnd()}`);
      if (report.result !== undefined) keepResult(report.result);
      failure = report.failure ?? failure;
      progress = report.progress ?? progress;
      record.publish(report.ask !== undefined && ask(report.ask));
      return true;
    },
    publish: (urgent) => journal.publish(state, urgent),
  };
  return record;
};
