import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { AdapterTraits } from "../../contract/workflow-adapter.ts";

/** What was seen in detail so long ago in proportion to its age comes first; from this age on (milliseconds) all are alike. */
const grownMs = 3_600_000;
/** Nothing is so young that it must be seen more often than that (milliseconds). */
const youngMs = 60_000;

export interface DetailChoice {
  readonly now: number;
  /** How often executions that nobody reads are looked at (milliseconds). */
  readonly everyMs: number;
  /** When an execution was last seen in detail, or what counts as that (epoch milliseconds). */
  lastDetailedAt(record: TaskRecord): number;
}

/**
 * Which executions are looked at in detail although nobody reads them, so that their questions are kept alive and told. Where looks
 * are limited by the minute details may cost a call for each execution, of a rate that those who look need: then as many executions a
 * minute as the adapter says of calls, the young ones more often, which are the likeliest to ask something soon.
 */
export const chooseDetailed = async (
  { questions, maxInspectCallsPerMinute }: AdapterTraits,
  records: () => AsyncIterable<TaskRecord>,
  choice: DetailChoice,
): Promise<(record: TaskRecord) => boolean> => {
  if (questions === "none") return () => false;
  if (maxInspectCallsPerMinute === undefined) return () => true;
  const limit = Math.max(1, Math.floor((maxInspectCallsPerMinute * choice.everyMs) / 60_000));
  const candidates: Candidate[] = [];
  for await (const record of records()) if (mayAsk(record)) candidates.push(toCandidate(record, choice));
  candidates.sort((one, other) => other.urgency - one.urgency || other.createdAt - one.createdAt);
  const chosen = new Set(candidates.slice(0, limit).map(({ taskId }) => taskId));
  return ({ taskId }) => chosen.has(taskId);
};

interface Candidate {
  readonly taskId: TaskId;
  readonly createdAt: number;
  readonly urgency: number;
}

/** What is to be stopped is asked nothing any more. */
const mayAsk = ({ ref, state, cancel }: TaskRecord): boolean =>
  ref !== undefined && !isEnded(state) && cancel === undefined;

const toCandidate = (record: TaskRecord, { now, lastDetailedAt }: DetailChoice): Candidate => {
  const { taskId, createdAt } = record;
  const age = Math.min(Math.max(now - createdAt, youngMs), grownMs);
  return { taskId, createdAt, urgency: (now - lastDetailedAt(record)) / age };
};
