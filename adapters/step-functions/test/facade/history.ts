import type { HistoryEvent, HistoryEventType } from "@aws-sdk/client-sfn";

type Details = Omit<HistoryEvent, "timestamp" | "type" | "id" | "previousEventId">;

/** Where a branch of an execution stands: the event that its next one follows. */
export interface Thread {
  lastEventId: number;
}

/** The events of one execution, oldest first. */
export interface History {
  readonly events: readonly HistoryEvent[];
  add(thread: Thread, at: number, type: HistoryEventType, details?: Details): HistoryEvent;
}

export const createHistory = (): History => {
  const events: HistoryEvent[] = [];
  return {
    events,
    add: (thread, at, type, details = {}) => {
      const id = events.length + 1;
      const event = { timestamp: new Date(at), type, id, previousEventId: thread.lastEventId, ...details };
      events.push(event);
      thread.lastEventId = id;
      return event;
    },
  };
};

/** Always so in answers of the API, unlike in logs. */
export const whole: { readonly truncated: false } = { truncated: false };

/** An event as it is told with `includeExecutionData: false`. */
export const withoutData = (event: HistoryEvent): HistoryEvent =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => {
      if (typeof value !== "object" || value === null || value instanceof Date) return [name, value];
      const { input, output, inputDetails, outputDetails, parameters, ...rest } = value as Record<string, unknown>;
      return [name, parameters === undefined ? rest : { ...rest, parameters: "" }];
    }),
  ) as unknown as HistoryEvent;
