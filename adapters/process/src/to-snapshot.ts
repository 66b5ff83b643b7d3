import type { ExecutionOutput, ExecutionQuestion, ExecutionSnapshot, JsonValue } from "@taskbridge/core/adapter";
import { isDeeper } from "./is-deeper.ts";
import type { JobEnd, JobState, OpenQuestion } from "./job-folder.ts";

/** Deeper values are handed on as text: writing one as JSON again overflows the stack of whoever does. */
const deepestInline = 1000;

const toQuestion = ({ key: _, ...question }: OpenQuestion): ExecutionQuestion => question;

/** `text`: the output's file, when it is small enough. */
const toOutput = ({ kind, bytes }: NonNullable<JobEnd["output"]>, text: string | undefined): ExecutionOutput => {
  if (kind === "text" && text !== undefined) return { kind, text };
  const value: JsonValue | undefined = text === undefined ? undefined : JSON.parse(text);
  return value === undefined || isDeeper(value, deepestInline)
    ? { kind: "stream", bytes, mediaType: kind === "json" ? "application/json" : "text/plain" }
    : { kind: "json", value };
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
