import type { ExecutionFailure, ExecutionProgress } from "@taskbridge/core/adapter";
import type { JobState } from "./job-folder.ts";
import type { JobJournal } from "./job-journal.ts";
import { parseReport } from "./parse-report.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { type QuestionDesk, questionDesk } from "./question-desk.ts";

const keptWarnings = 20;

/** What is known of a job while it runs, published whenever it changes. */
export interface JobRecord {
  readonly desk: QuestionDesk;
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

export const jobRecord = (journal: JobJournal, supervisor: ProcessIdentity, child: ProcessIdentity): JobRecord => {
  const startedAt = Date.now();
  const desk = questionDesk();
  const warnings: string[] = [];
  let progress: ExecutionProgress | undefined;
  let failure: ExecutionFailure | undefined;

  const state = (): JobState => ({
    version: 1,
    supervisor,
    child,
    startedAt,
    ...(progress === undefined ? {} : { progress }),
    questions: desk.open(),
    warnings,
  });
  const record: JobRecord = {
    desk,
    startedAt,
    warnings,
    get progress() {
      return progress;
    },
    get failure() {
      return failure;
    },
    warn(message) {
      if (warnings.length < keptWarnings) warnings.push(message);
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
      if (report.ask !== undefined && !desk.ask(report.ask)) {
        record.warn(`too many open questions to ask ${report.ask.key}`);
      }
      record.publish(report.ask !== undefined);
      return true;
    },
    publish: (urgent) => journal.publish(state, urgent),
  };
  return record;
};
