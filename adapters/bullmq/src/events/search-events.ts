import type { KeptEnd, QueueEvent, QueuePort } from "../redis/client.ts";
import { toKeptEnd } from "./parse-event.ts";

/** What the event stream has kept of a job. */
export interface Trace {
  /** How it ended. */
  readonly end?: KeptEnd;
  /** That it was removed, by whoever. */
  readonly removal?: KeptEnd;
}

/** `since`: everything from that time on was read. `beginning`: everything that is kept. `limit`: more is left for the next search. */
export type Reached = "since" | "beginning" | "limit";

export interface EventSearch {
  /** Of each job that any event is about. */
  readonly traces: ReadonlyMap<string, Trace>;
  readonly reached: Reached;
}

/** Reads back for these jobs, from the newest event to `since` (epoch milliseconds) at most. */
export type SearchEvents = (queue: QueuePort, ids: readonly string[], since?: number) => Promise<EventSearch>;

/** What one search reads at most. BullMQ keeps about 10,000 events of a queue, unless it is told otherwise. */
const maxEvents = 50_000;
/** Others' results are read with their events, and may be of any size: in characters. */
const maxText = 32 * 1024 * 1024;
/** A page is so small that Redis is soon there for others again. */
const textOfPage = 256 * 1024;
const firstPage = 8;
const largestPage = 100;
/** So many jobs are known to have been searched for. */
const maxKnown = 10_000;

/** How far was read for a job by earlier searches. */
interface Known {
  readonly newest: string;
  readonly oldest: string;
  readonly isAll: boolean;
  readonly trace: Trace | undefined;
}

interface Budget {
  events: number;
  text: number;
  page: number;
}

const sizeOf = ({ fields }: QueueEvent): number => Object.values(fields).reduce((size, text) => size + text.length, 0);

const spend = (budget: Budget, events: readonly QueueEvent[]): void => {
  const text = events.reduce((size, event) => size + sizeOf(event), 0);
  budget.events -= events.length;
  budget.text -= text;
  const fits = Math.floor((textOfPage * events.length) / Math.max(1, text));
  budget.page = Math.max(1, Math.min(largestPage, budget.page * 2, fits));
};

const toTrace = (trace: Trace, event: QueueEvent): Trace => {
  const keptEnd = toKeptEnd(event);
  if (keptEnd === undefined) return trace;
  // The newest comes first.
  const member = keptEnd.event === "removed" ? "removal" : "end";
  return trace[member] === undefined ? { ...trace, [member]: keptEnd } : trace;
};

/** It was removed when it had ended already, so that its end is further back. */
export const isRemovedAfterEnd = ({ removal }: Trace): boolean =>
  removal?.text === "completed" || removal?.text === "failed";

const isSettled = (trace: Trace | undefined): boolean =>
  trace !== undefined && (trace.end !== undefined || (trace.removal !== undefined && !isRemovedAfterEnd(trace)));

/** One stretch of the stream, newest first. */
const readBack = async (
  queue: QueuePort,
  [from, to]: readonly [from: string, to: string],
  budget: Budget,
  since: number,
  take: (event: QueueEvent) => void,
  isEnough: () => boolean,
): Promise<{ readonly first?: string; readonly last?: string; readonly reached: Reached }> => {
  let first: string | undefined;
  let last: string | undefined;
  const span = () => ({ ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }) });
  while (budget.events > 0 && budget.text > 0) {
    const { page } = budget;
    const events = await queue.readEventsBack(last === undefined ? from : `(${last}`, to, page);
    spend(budget, events);
    for (const event of events) take(event);
    first ??= events[0]?.eventId;
    last = events.at(-1)?.eventId ?? last;
    if (events.length < page) return { ...span(), reached: "beginning" };
    if (Number.parseInt(last ?? "", 10) < since) return { ...span(), reached: "since" };
    if (isEnough()) break;
  }
  return { ...span(), reached: "limit" };
};

/**
 * Searches event streams, and remembers for which jobs how far: what one search leaves over, the next one reads, and
 * hardly anything is read twice.
 */
export const eventSearcher = (): SearchEvents => {
  const known = new Map<string, Known>();

  const remember = (name: string, next: Known): void => {
    known.delete(name);
    known.set(name, next);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  };

  /** For jobs for which the same was read before. */
  const searchOn = async (
    queue: QueuePort,
    ids: readonly string[],
    nameOf: (id: string) => string,
    before: Known | undefined,
    since: number,
    budget: Budget,
  ): Promise<EventSearch> => {
    const traces = new Map<string, Trace>();
    for (const id of ids) {
      const trace = known.get(nameOf(id))?.trace;
      if (trace !== undefined) traces.set(id, trace);
    }
    const wanted = new Set(ids);
    const take = (event: QueueEvent): void => {
      const id = event.fields.jobId ?? "";
      if (wanted.has(id)) traces.set(id, toTrace(traces.get(id) ?? {}, event));
    };
    const isEnough = (): boolean => ids.every((id) => isSettled(traces.get(id)));
    const found = await readBack(
      queue,
      ["+", before === undefined ? "-" : before.newest],
      budget,
      since,
      take,
      isEnough,
    );
    // Other jobs' turn has used the limit up: theirs comes with the next search.
    if (found.first === undefined && found.reached === "limit") return { traces, reached: "limit" };
    // Else what came between may have been dropped before it was read.
    const isGapless = before !== undefined && found.last === before.newest;
    const old =
      isGapless && !before.isAll && !isEnough() && !(Number.parseInt(before.oldest, 10) < since)
        ? await readBack(queue, [`(${before.oldest}`, "-"], budget, since, take, isEnough)
        : undefined;
    const newest = found.first ?? before?.newest;
    const oldest = old?.last ?? (isGapless ? before.oldest : found.last);
    const isAll = isGapless ? before.isAll || old?.reached === "beginning" : found.reached === "beginning";
    for (const id of ids) {
      const trace = traces.get(id);
      // A result may be large, and whoever has it does not ask again.
      if (isSettled(trace) || newest === undefined || oldest === undefined) known.delete(nameOf(id));
      else remember(nameOf(id), { newest, oldest, isAll, trace });
    }
    const isSince = oldest !== undefined && Number.parseInt(oldest, 10) < since;
    return { traces, reached: isSince ? "since" : isAll ? "beginning" : "limit" };
  };

  return async (queue, ids, since = 0) => {
    const nameOf = (id: string): string => `${queue.prefix}:${queue.name}:${id}`;
    const groups = new Map<string, { readonly before: Known | undefined; readonly ids: string[] }>();
    for (const id of ids) {
      const before = known.get(nameOf(id));
      const key = before === undefined ? "" : `${before.newest} ${before.oldest} ${before.isAll}`;
      groups.set(key, { before, ids: [...(groups.get(key)?.ids ?? []), id] });
    }
    const budget: Budget = { events: maxEvents, text: maxText, page: firstPage };
    const traces = new Map<string, Trace>();
    let reached: Reached = "beginning";
    for (const group of groups.values()) {
      const found = await searchOn(queue, group.ids, nameOf, group.before, since, budget);
      for (const [id, trace] of found.traces) traces.set(id, trace);
      if (reached === "beginning" || found.reached === "limit") reached = found.reached;
    }
    return { traces, reached };
  };
};
