import type { Execution, Frame } from "./client.ts";
import { given } from "./given.ts";
import type { protos } from "./sdk.ts";

type Told = protos.google.cloud.workflows.executions.v1.IExecution;
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
export const toExecution = (told: Told): Execution => ({
  name: told.name ?? "",
  state: String(told.state ?? ""),
  ...given("startedAt", atOf(told.startTime)),
  ...given("endedAt", atOf(told.endTime)),
  ...given("argument", textOf(told.argument)),
  ...given("result", textOf(told.result)),
  ...given(
    "error",
    told.error
      ? {
          payload: told.error.payload ?? "",
          context: told.error.context ?? "",
          stack: (told.error.stackTrace?.elements ?? []).map(toFrame),
        }
      : undefined,
  ),
  steps: (told.status?.currentSteps ?? []).map(({ routine, step }) => ({ routine: routine ?? "", step: step ?? "" })),
  labels: told.labels ?? {},
  ...given(
    "stateError",
    told.stateError ? (textOf(told.stateError.details) ?? String(told.stateError.type)) : undefined,
  ),
});
