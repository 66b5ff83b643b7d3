/** What is there when all is over. */
export interface KillReport {
  readonly records: readonly {
    readonly taskId: string;
    readonly startKey: string;
    /** The call's number, from its stored arguments. */
    readonly n: number;
    readonly state: string;
    readonly message: string | undefined;
    /** What a client is given for it, as text. */
    readonly read: string;
  }[];
  /** As Redis has them: every hash of the queue that holds a job. */
  readonly jobs: readonly {
    readonly id: string;
    readonly n: number;
    /** BullMQ's own count of how often a worker lost it. */
    readonly stalls: number;
  }[];
  /** IDs of jobs, one for each run of the processor. */
  readonly journal: readonly string[];
  /** The task that each answered call was told, by its number. */
  readonly acknowledged: ReadonlyMap<number, string>;
}

const countBy = <Key>(keys: readonly Key[]): ReadonlyMap<Key, number> => {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

const recordFaults = ({ records, jobs }: KillReport): readonly string[] =>
  records.flatMap(({ taskId, startKey, n, state, message, read }) => {
    const ids = jobs.filter((job) => job.n === n).map(({ id }) => id);
    const faults: string[] = [];
    if (ids.length !== 1) faults.push(`call ${n} has ${ids.length} jobs: ${ids.join(" ")}`);
    else if (ids[0] !== startKey) faults.push(`call ${n} has the job ${ids[0]}, not ${startKey}`);
    if (state !== "succeeded") faults.push(`task ${taskId} of call ${n} is ${state}: ${message}`);
    if (read !== JSON.stringify({ n })) faults.push(`task ${taskId} of call ${n} is read as ${read}`);
    return faults;
  });

const jobFaults = ({ records, jobs, journal }: KillReport): readonly string[] => {
  const calls = new Set(records.map(({ n }) => n));
  const runs = countBy(journal);
  return jobs.flatMap(({ id, n, stalls }) => {
    const times = runs.get(id) ?? 0;
    const faults: string[] = [];
    if (!calls.has(n)) faults.push(`job ${id} of call ${n} has no record`);
    if (times === 0) faults.push(`job ${id} was never run`);
    if (times > 1 + stalls) faults.push(`job ${id} was run ${times} times, and has stalled ${stalls} times`);
    return faults;
  });
};

/** Everything in which the promise is not kept: one job for each record, all acknowledged tasks there, all results readable. */
export const findFaults = (report: KillReport): readonly string[] => {
  const { records, jobs, journal, acknowledged } = report;
  const taskOf = new Map(records.map(({ n, taskId }) => [n, taskId]));
  const ids = new Set(jobs.map(({ id }) => id));
  const twice = [...countBy(records.map(({ n }) => n))].filter(([, times]) => times > 1);
  return [
    ...recordFaults(report),
    ...jobFaults(report),
    ...twice.map(([n, times]) => `call ${n} has ${times} records`),
    ...[...acknowledged]
      .filter(([n, taskId]) => taskOf.get(n) !== taskId)
      .map(([n, taskId]) => `call ${n} was told ${taskId}, which is not there`),
    ...[...new Set(journal)].filter((id) => !ids.has(id)).map((id) => `job ${id} was run and is not there`),
  ];
};
