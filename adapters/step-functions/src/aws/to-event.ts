import type { HistoryEvent, ScheduledTask } from "./client.ts";

/** What is read of an event by AWS' client, next to its details. */
interface SfnEvent {
  readonly id?: number | undefined;
  readonly previousEventId?: number | undefined;
  readonly type?: string | undefined;
  readonly timestamp?: Date | undefined;
  readonly taskScheduledEventDetails?:
    | {
        readonly resource?: string | undefined;
        readonly parameters?: string | undefined;
        readonly timeoutInSeconds?: number | undefined;
        readonly heartbeatInSeconds?: number | undefined;
      }
    | undefined;
}

/** Members of the details, whichever kind they are of: every event has one at most. */
type EventFields = Pick<HistoryEvent, "length" | "mapRunArn" | "output" | "error" | "cause"> & {
  readonly name?: string;
};

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

const toTask = ({ taskScheduledEventDetails: scheduled }: SfnEvent): ScheduledTask | undefined =>
  scheduled && {
    resource: scheduled.resource ?? "",
    parameters: scheduled.parameters ?? "",
    timeoutMs: inMs(scheduled.timeoutInSeconds),
    heartbeatMs: inMs(scheduled.heartbeatInSeconds),
  };

/** An event of a history as AWS' client gives it. */
export const toEvent = (event: SfnEvent): HistoryEvent => {
  const { id = 0, previousEventId: previousId = 0, type = "", timestamp } = event;
  const [, details] = Object.entries(event).find(([member]) => member.endsWith("EventDetails")) ?? [];
  const { name, length, mapRunArn, output, error, cause } = (details ?? {}) as EventFields;
  const state = /State(Entered|Exited)$|^MapIteration/.test(type) ? name : undefined;
  const at = timestamp?.getTime() ?? 0;
  return { id, previousId, type, at, state, task: toTask(event), length, mapRunArn, output, error, cause };
};
