import { openQuestions, type TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type FailureError, toFailureError } from "../to-failure-error.ts";
import { type OutputExpectation, toToolResult } from "../to-tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import type { CallerCapabilities } from "./read-capabilities.ts";
import { type TaskFields, toTaskFields } from "./task-fields.ts";
import { type ElicitationRequest, toInputRequests } from "./to-input-requests.ts";

export interface DetailedTask extends TaskFields {
  /** With `input_required`: every open question. */
  readonly inputRequests?: Readonly<Record<string, ElicitationRequest>>;
  /** With `completed`. Clients check it as a result of this revision, which says `complete`. */
  readonly result?: ToolResult & { readonly resultType: "complete" };
  /** With `failed`. */
  readonly error?: FailureError;
}

/**
 * A task with what its status brings along, as `tasks/get` answers it and `notifications/tasks` carries it. A job that
 * failed is `completed` with an error result; `failed` is for calls that could not be carried out as such.
 */
export const toDetailedTask = (
  view: TaskView,
  capabilities: CallerCapabilities,
  expectation?: OutputExpectation,
): DetailedTask => {
  const { record } = view;
  const message = toStatusMessage(record, view.staleSince);
  switch (record.state) {
    case "succeeded":
      return toCompleted(view, message, expectation);
    case "failed":
      return record.failure?.kind === "protocol" ? toFailed(view, message) : toCompleted(view, message, expectation);
    case "cancelled":
      return toTaskFields(view, "cancelled", message);
    case "waiting":
      return toWaiting(view, message, capabilities);
    default:
      return toTaskFields(view, "working", message);
  }
};

const toCompleted = (
  view: TaskView,
  message: string | undefined,
  expectation: OutputExpectation | undefined,
): DetailedTask => ({
  ...toTaskFields(view, "completed", message),
  result: { resultType: "complete", ...toToolResult(view, expectation) },
});

const toFailed = (view: TaskView, message: string | undefined): DetailedTask => ({
  ...toTaskFields(view, "failed", message),
  error: toFailureError(view.record),
});

const toWaiting = (view: TaskView, message: string | undefined, capabilities: CallerCapabilities): DetailedTask => {
  const open = openQuestions(view.record.questions);
  const { requests, withheld } = toInputRequests(
    open.map((question) => [question.key, question] as const),
    capabilities,
  );
  const statusText = [message, ...withheld].filter((part) => part !== undefined).join("; ");
  const statusMessage = statusText === "" ? undefined : statusText;
  if (Object.keys(requests).length === 0) return toTaskFields(view, "working", statusMessage);
  return { ...toTaskFields(view, "input_required", statusMessage), inputRequests: requests };
};
