import { type Evidence, eventsOf, groupBy, type KeptJob } from "./evidence.ts";

/**
 * What clients were given is what a worker returned, and what Redis has of it; a failure is told as its job tells it. Every
 * task that was acknowledged, neither cancelled nor deleted, has a result that was read.
 */
export const checkResults = (evidence: Evidence): readonly string[] => {
  const jobs = new Map(evidence.jobs.map((job) => [job.call, job]));
  const returned = groupBy(
    evidence.lines.filter((line) => line.kind === "returns"),
    ({ job }) => job,
  );
  const results = groupBy(eventsOf(evidence, "result"), ({ call }) => call);
  const cancelled = new Set(evidence.tasks.filter(({ state }) => state === "cancelled").map(({ call }) => call));
  const wrong = [...results].flatMap(([call, given]) => {
    // Where the call itself is waited for, it is answered with that.
    if (cancelled.has(call) && given.every(({ result }) => result.isError)) return [];
    const job = jobs.get(call);
    if (job === undefined) return [`call ${call} has a result and no job`];
    const values = (returned.get(job.id) ?? []).flatMap((line) => ("value" in line ? [line.value] : []));
    return given.flatMap(({ result, wire }) => {
      const isRight = result.isError ? showsFailure(result.text, job) : isSameJson(result.text, job.returned);
      if (!isRight)
        return [`call ${call} was given ${JSON.stringify(result)} on ${wire}, and its job has ${toText(job)}`];
      if (!result.isError && !values.some((value) => isSameJson(result.text, value)))
        return [`call ${call} was given ${result.text} on ${wire}, which no worker returned`];
      return [];
    });
  });
  return [...wrong, ...checkRead(evidence, new Set(results.keys()))];
};

const checkRead = (evidence: Evidence, read: ReadonlySet<string>): readonly string[] => {
  const state = new Map(evidence.tasks.map((task) => [task.call, task]));
  const deleting = new Set(eventsOf(evidence, "deleting").map(({ call }) => call));
  return eventsOf(evidence, "acknowledged").flatMap(({ call }) => {
    const task = state.get(call);
    if (read.has(call) || deleting.has(call) || task?.state === "cancelled") return [];
    return [`no result of call ${call} was read: its task is ${task?.state ?? "not there"}: ${task?.message ?? ""}`];
  });
};

const showsFailure = (text: string, { failedReason }: KeptJob): boolean =>
  failedReason !== undefined && text.includes(failedReason.split("\n")[0] ?? "");

const isSameJson = (one: string, other: string | undefined): boolean => {
  if (other === undefined) return false;
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    // A text that is no JSON is no job's value.
    return false;
  }
};

const toText = ({ returned, failedReason }: KeptJob): string => returned ?? failedReason ?? "nothing";
