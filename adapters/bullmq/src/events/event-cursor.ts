import { isObject } from "@taskbridge/core/adapter";

/** ID of the last event that was taken, for each queue (`prefix:queue`). */
export type EventCursor = Readonly<Record<string, string>>;

const eventId = /^\d+-\d+$/;

export const toCursor = (queues: EventCursor): string => JSON.stringify({ v: 1, queues });

/** A text that is no cursor of ours is none: listening begins anew. */
export const parseCursor = (cursor: string | undefined): EventCursor => {
  let value: unknown;
  try {
    value = JSON.parse(cursor ?? "null");
  } catch {
    return {};
  }
  if (!isObject(value) || value.v !== 1 || !isObject(value.queues)) return {};
  const known = Object.entries(value.queues).filter(([, id]) => typeof id === "string" && eventId.test(id));
  return Object.fromEntries(known) as EventCursor;
};

/** Whether one event came after another. */
export const isLater = (one: string, other: string): boolean => {
  const [oneMs = 0, oneCount = 0] = one.split("-").map(Number);
  const [otherMs = 0, otherCount = 0] = other.split("-").map(Number);
  return oneMs > otherMs || (oneMs === otherMs && oneCount > otherCount);
};
