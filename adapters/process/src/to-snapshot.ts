import type { ExecutionOutput, ExecutionQuestion, ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { JobEnd, JobState, OpenQuestion } from "./job-folder.ts";

const toQuestion = ({ key: _, ...question }: OpenQuestion): ExecutionQuestion => question;

/** `text`: the output's file, when it is small enough. */
const toOutput = ({ kind, bytes }: NonNullable<JobEnd["output"]>, text: string | undefined): ExecutionOutput => {
  if (text === undefined)
    return { kind: "stream", bytes, mediaType: kind === "json" ? "application/json" : "text/plain" };
  return kind === "json" ? { kind: "json", value: JSON.parse(text) } : { kind: "text", text };
};

export const runningSnapshot = ({ startedAt, progress, questions }: JobState): ExecutionSnapshot => ({
  status: questions.length > 0 ? "waiting" : "running",
  ...(progress === undefined ? {} : { progress }),
  questions: questions.map(toQuestion),
  startedAt,
});

export const endedSnapshot = (end: JobEnd, outputText: string | undefined): ExecutionSnapshot => ({
  status: end.status,
  ...(end.progress === undefined ? {} : { progress: end.progress }),
  questions: [],
  ...(end.output === undefined ? {} : { output: toOutput(end.output, outputText) }),
  ...(end.failure === undefined ? {} : { failure: end.failure }),
  ...(end.startedAt === undefined ? {} : { startedAt: end.startedAt }),
  endedAt: end.endedAt,
});
