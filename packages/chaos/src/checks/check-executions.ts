import { type Evidence, eventsOf, groupBy, type KeptJob } from "./evidence.ts";

/**
 * One execution for a start that was acknowledged, at most one for any other, under the start key that its task has. A call
 * that somebody cancelled may have none. What BullMQ itself ran again is told apart by its own counts.
 */
export const checkExecutions = (evidence: Evidence): readonly string[] => {
  const jobs = groupBy(evidence.jobs, ({ call }) => call);
  const tasks = groupBy(evidence.tasks, ({ call }) => call);
  const acknowledged = new Set(eventsOf(evidence, "acknowledged").map(({ call }) => call));
  const cancelled = new Set(eventsOf(evidence, "cancelling").map(({ call }) => call));
  const started = eventsOf(evidence, "started").map(({ call }) => call);
  const faults = started.flatMap((call) => {
    const ids = (jobs.get(call) ?? []).map(({ id }) => id);
    const kept = tasks.get(call) ?? [];
    const reported: string[] = [];
    if (ids.length > 1) reported.push(`call ${call} has ${ids.length} jobs: ${ids.join(" ")}`);
    if (kept.length > 1) reported.push(`call ${call} has ${kept.length} tasks`);
    if (ids.length === 0 && acknowledged.has(call) && !cancelled.has(call))
      reported.push(`call ${call} was acknowledged and has no job`);
    const [task] = kept;
    if (task !== undefined && ids.some((id) => id !== task.startKey))
      reported.push(`call ${call} has the job ${ids.join(" ")}, and its task the start key ${task.startKey}`);
    if (task === undefined && ids.length > 0) reported.push(`job ${ids[0]} of call ${call} has no task`);
    return reported;
  });
  const known = new Set(started);
  return [
    ...faults,
    ...evidence.jobs.filter(({ call }) => !known.has(call)).map(({ id, call }) => `job ${id} is of no call: ${call}`),
    ...checkRuns(evidence),
  ];
};

/** Workers ran a job only as often as BullMQ gave it to one; it did so again only after a stall, or when a person was asked. */
const checkRuns = (evidence: Evidence): readonly string[] => {
  const { jobs, lines } = evidence;
  const ofJob = groupBy(lines, ({ job }) => job);
  const ids = new Set(jobs.map(({ id }) => id));
  const deleting = new Set(eventsOf(evidence, "deleting").map(({ call }) => call));
  const begun = lines.flatMap((line) => (line.kind === "begins" ? [line] : []));
  // With a task that is deleted goes its job.
  const missing = begun.filter(({ job, call }) => !ids.has(job) && !deleting.has(call));
  return [
    ...jobs.flatMap((job) => checkJobRuns(job, ofJob.get(job.id) ?? [])),
    ...missing.map(({ job, call }) => `job ${job} of call ${call} was run and is not there`),
  ];
};

const checkJobRuns = ({ id, given, stalls, isRemoved }: KeptJob, lines: Evidence["lines"]): readonly string[] => {
  // Its counts are gone.
  if (isRemoved) return [];
  const runs = lines.filter(({ kind }) => kind === "begins").length;
  const asks = lines.some(({ kind }) => kind === "puts off" || kind === "is answered") ? 1 : 0;
  if (runs > given) return [`job ${id} was run ${runs} times, and given to workers ${given} times`];
  if (given > 1 + asks + stalls)
    return [`job ${id} was given to workers ${given} times, and has stalled ${stalls} times`];
  return [];
};
