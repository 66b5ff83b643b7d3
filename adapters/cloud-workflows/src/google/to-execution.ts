import type { Execution, Frame } from "./client.ts";
import { given } from "./given.ts";
import type { protos } from "./sdk.ts";

type ApiExecution = protos.google.cloud.workflows.executions.v1.IExecution;
type Time = { readonly seconds?: unknown; readonly nanos?: unknown } | null | undefined;

const atOf = (time: Time): number | undefined =>
  time === null || time === undefined
    ? undefined
    : Number(time.seconds ?? 0) * 1_000 + Math.floor(Number(time.nanos ?? 0) / 1e6);

const textOf = (value: string | null | undefined): string | undefined => value || undefined;

const toFrame = ({
  routine,
  step,
  position,
}: protos.google.cloud.workflows.executions.v1.Execution.IStackTraceElement): Frame => {
  const line = Number(position?.line ?? 0);
  return { routine: routine ?? "", step: step ?? "", ...(line > 0 ? { line } : {}) };
};

/** An execution as the port tells it, from a message of Google's client: 64-bit numbers and states may be numbers or texts. */
export const toExecution = (response: ApiExecution): Execution => ({
  name: response.name ?? "",
  state: String(response.state ?? ""),
  ...given("startedAt", atOf(response.startTime)),
  ...given("endedAt", atOf(response.endTime)),
  ...given("argument", textOf(response.argument)),
  ...given("result", textOf(response.result)),
  ...given(
    "error",
    response.error
      ? {
          payload: response.error.payload ?? "",
          context: response.error.context ?? "",
          stack: (response.error.stackTrace?.elements ?? []).map(toFrame),
        }
      : undefined,
  ),
  steps: (response.status?.currentSteps ?? []).map(({ routine, step }) => ({
    routine: routine ?? "",
    step: step ?? "",
  })),
  labels: response.labels ?? {},
  ...given(
    "stateError",
    response.stateError ? (textOf(response.stateError.details) ?? String(response.stateError.type)) : undefined,
  ),
});
