import type { ExecutionDetails, ExecutionRow, HistoryEvent, Machine, PageCall } from "./client.ts";
import type { SfnEvent } from "./sfn-client.ts";

export const at = (date: Date | undefined): number => date?.getTime() ?? 0;
export const given = <Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

interface Described {
  readonly executionArn: string | undefined;
  readonly status: string | undefined;
  readonly startDate: Date | undefined;
  readonly stopDate?: Date | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
  readonly redriveCount?: number | undefined;
}

export const toRow = (row: Described): ExecutionRow => ({
  arn: row.executionArn ?? "",
  status: row.status ?? "",
  startedAt: at(row.startDate),
  ...given("endedAt", row.stopDate?.getTime()),
});

export const toDetails = (row: Described): ExecutionDetails => ({
  ...toRow(row),
  ...given("input", row.input),
  ...given("output", row.output),
  ...given("error", row.error),
  ...given("cause", row.cause),
  ...given("redriveCount", row.redriveCount),
});

/** Members of the details, whichever kind they are of: every event has one at most. */
interface Details {
  readonly name?: string;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
  readonly length?: number;
  readonly mapRunArn?: string;
}

export const toEvent = (event: SfnEvent): HistoryEvent => {
  const scheduled = event.taskScheduledEventDetails;
  const [, details] = Object.entries(event).find(([name]) => name.endsWith("EventDetails")) ?? [];
  const told = (details ?? {}) as Details;
  return {
    id: event.id ?? 0,
    previousId: event.previousEventId ?? 0,
    type: event.type ?? "",
    at: at(event.timestamp),
    ...given("state", /State(Entered|Exited)$|^MapIteration/.test(event.type ?? "") ? told.name : undefined),
    ...given(
      "task",
      scheduled && {
        resource: scheduled.resource ?? "",
        parameters: scheduled.parameters ?? "",
        ...given("timeoutMs", inMs(scheduled.timeoutInSeconds)),
        ...given("heartbeatMs", inMs(scheduled.heartbeatInSeconds)),
      },
    ),
    ...given("length", told.length),
    ...given("mapRunArn", told.mapRunArn),
    ...given("output", told.output),
    ...given("error", told.error),
    ...given("cause", told.cause),
  };
};

interface DescribedMachine {
  readonly stateMachineArn: string | undefined;
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly description?: string | undefined;
}

export const toMachine = ({ stateMachineArn, name, type, description }: DescribedMachine): Machine => ({
  arn: stateMachineArn ?? "",
  name: name ?? "",
  type: type ?? "STANDARD",
  ...given("description", description),
});

export const paging = ({ size, token }: PageCall): { maxResults: number; nextToken?: string } => ({
  maxResults: size,
  ...given("nextToken", token),
});
