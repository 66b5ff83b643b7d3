import { BridgeError } from "../../contract/bridge-error.ts";
import { type ExecutionSnapshot, executionStatuses } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";

const statuses: ReadonlySet<unknown> = new Set(executionStatuses);

/**
 * What an adapter tells is written into the record, so what is not a snapshot must stop here: as `bad_response`, naming
 * the adapter and the member.
 */
export const assertSnapshot = (record: TaskRecord, snapshot: ExecutionSnapshot): void => {
  const fault = findFault(snapshot);
  if (fault === undefined) return;
  throw new BridgeError(
    "bad_response",
    `[${record.adapterId}] bad_response: the adapter gave an unusable snapshot: ${fault}`,
    {
      adapterId: record.adapterId,
      operation: "snapshot",
    },
  );
};

const findFault = (snapshot: ExecutionSnapshot): string | undefined => {
  if (!statuses.has(snapshot?.status)) return `status is ${JSON.stringify(snapshot?.status)}`;
  const { output, failure, questions } = snapshot;
  if (output !== undefined && !isOutput(output))
    return 'output must be { kind: "json", value }, { kind: "text", text } or { kind: "stream", mediaType }';
  if (failure !== undefined && (typeof failure.reason !== "string" || !["job", "protocol"].includes(failure.kind)))
    return 'failure must have a reason and a kind, "job" or "protocol"';
  const isAsked = (question: { id?: unknown; message?: unknown } | null): boolean =>
    typeof question?.id === "string" && typeof question.message === "string";
  if (questions !== undefined && !(Array.isArray(questions) && questions.every(isAsked)))
    return "questions must each have an id and a message";
  return undefined;
};

const isOutput = (output: { kind?: unknown; value?: unknown; text?: unknown; mediaType?: unknown }): boolean => {
  if (output?.kind === "json") return output.value !== undefined;
  if (output?.kind === "text") return typeof output.text === "string";
  return output?.kind === "stream" && (output.mediaType === "application/json" || output.mediaType === "text/plain");
};
