import { type Evidence, eventsOf, groupBy } from "./evidence.ts";

/**
 * A job hears one answer, however often it runs: one that was given to its question, and none that was given only after
 * another had been acknowledged.
 */
export const checkAnswers = (evidence: Evidence): readonly string[] => {
  // By what workers have begun: a job that was deleted with its task may have heard an answer.
  const begun = evidence.lines.flatMap((line) => (line.kind === "begins" ? [line] : []));
  const calls = new Map(begun.map(({ job, call }) => [job, call]));
  const given = groupBy(eventsOf(evidence, "answering"), ({ call }) => call);
  const acknowledged = groupBy(eventsOf(evidence, "answered"), ({ call }) => call);
  const received = groupBy(
    evidence.lines.filter((line) => line.kind === "is answered"),
    ({ job }) => job,
  );
  return [...received].flatMap(([job, lines]) => {
    const call = calls.get(job) ?? "";
    const tokens = [...new Set(lines.flatMap((line) => ("token" in line ? [line.token] : [])))];
    if (tokens.length > 1)
      return [`job ${job} of call ${call} has heard ${tokens.length} answers: ${tokens.join(" ")}`];
    if (tokens[0] === "" && acknowledged.has(call)) return [`job ${job} of call ${call} was told that nobody answers`];
    if (tokens[0] === "") return [];
    const answer = (given.get(call) ?? []).find(({ token }) => token === tokens[0]);
    if (answer === undefined) return [`job ${job} of call ${call} has heard ${tokens[0]}, which nobody answered`];
    const first = Math.min(...(acknowledged.get(call) ?? []).map(({ at }) => at));
    if (answer.sentAt > first) return [`job ${job} of call ${call} has heard ${tokens[0]}, given after one was taken`];
    return [];
  });
};
