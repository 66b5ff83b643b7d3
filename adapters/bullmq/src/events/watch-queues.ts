import {
  asStartKey,
  BridgeError,
  type CallContext,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type Subscription,
  type WatchRequest,
} from "@taskbridge/core/adapter";
import { type JobLocation, toRef } from "../execution-ref.ts";
import { endToSnapshot } from "../mapping/end-to-snapshot.ts";
import { toOutput } from "../mapping/to-output.ts";
import { lastStack, toSnapshot } from "../mapping/to-snapshot.ts";
import type { BullmqClient, EventReader, JobRow, KeptEnd, QueueEvent, QueuePort } from "../redis/client.ts";
import { type EventCursor, isLater, parseCursor, toCursor } from "./event-cursor.ts";
import { isOurId, parseEvent } from "./parse-event.ts";

/** Before all events. */
const beginning = "0-0";
const eventsAtOnce = 200;
/** Longest pause (milliseconds) after a failure, of Redis or of the sink. */
const maxPauseMs = 500;
/** So many failures in a row end the subscription; the engine makes a new one. */
const maxFailures = 20;
/** After so many events of others the cursor is kept, so that it does not fall behind the stream. */
const keepCursorEvery = 1_000;
const maxHints = 10_000;
/** A larger result (bytes) is not taken along with its event. */
const maxBufferedBytes = 4 * 1024 * 1024;

type QueueLocation = Pick<JobLocation, "prefix" | "queue">;

/** What several loops share: one cursor, saved in one order. */
interface Sink {
  readonly isClosed: () => boolean;
  handOn(location: string, updates: readonly ExecutionUpdate[], eventId: string): Promise<void>;
}

/** Short at first: mostly a connection was cut, and another is there at once. */
const pause = (failures: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(10 * 4 ** (failures - 1), maxPauseMs)));

/** The result is in the event: it is taken now, whatever becomes of the job. */
const withResult = (snapshot: ExecutionSnapshot, end: KeptEnd | undefined): ExecutionSnapshot => {
  if (snapshot.output?.kind !== "stream" || end?.event !== "completed" || end.text.length > maxBufferedBytes)
    return snapshot;
  const output = toOutput(end.text);
  return output === undefined ? snapshot : { ...snapshot, output };
};

const toUpdate = (
  queue: QueuePort,
  id: string,
  row: JobRow,
  end: KeptEnd | undefined,
  isPaused: boolean,
): ExecutionUpdate => {
  const named = { key: asStartKey(id), ref: toRef({ prefix: queue.prefix, queue: queue.name, id }) };
  // Only a look tells that it is lost.
  if (row.state === "unlisted") return named;
  if (row.state !== "missing") return { ...named, snapshot: withResult(toSnapshot(row, { isPaused }), end) };
  const snapshot = end === undefined ? undefined : endToSnapshot(end);
  return snapshot === undefined ? named : { ...named, snapshot };
};

/** What the events say, in the order of the last one about each job: the job itself is read, which tells more. */
const readUpdates = async (
  queue: QueuePort,
  events: readonly QueueEvent[],
  log: CallContext["log"],
): Promise<readonly ExecutionUpdate[]> => {
  const reported = new Map<string, KeptEnd | undefined>();
  for (const parsed of events.flatMap((event) => parseEvent(event) ?? [])) {
    const before = reported.get(parsed.jobId);
    reported.delete(parsed.jobId);
    reported.set(parsed.jobId, parsed.end ?? before);
  }
  if (reported.size === 0) return [];
  const { rows, isPaused } = await queue.read([...reported.keys()]);
  return [...reported].flatMap(([id, end], index) => {
    const row = rows[index] as JobRow;
    // Read ahead of its own event, which follows and brings the result along.
    if (end === undefined && (row.state === "completed" || row.state === "failed")) return [];
    const stack = end?.event === "failed" ? lastStack(row) : undefined;
    if (stack !== undefined) log("warn", `job ${id} of ${queue.name} failed`, { attempts: row.attemptsMade, stack });
    return toUpdate(queue, id, row, end, isPaused);
  });
};

/** Where to begin, and what may have been missed: events that the stream has dropped since. */
const toPosition = async (
  queue: QueuePort,
  last: string | undefined,
): Promise<{ readonly after: string; readonly missed: readonly ExecutionUpdate[] }> => {
  const span = await queue.eventSpan();
  if (last === undefined) return { after: span?.last ?? beginning, missed: [] };
  if (await isBehind(queue, last)) return { after: beginning, missed: [] };
  if (span === undefined || !isLater(span.first, last)) return { after: last, missed: [] };
  const ids = (await queue.endedIds(maxHints)).filter(isOurId);
  const missed = ids.map((id) => ({
    key: asStartKey(id),
    ref: toRef({ prefix: queue.prefix, queue: queue.name, id }),
  }));
  return { after: last, missed };
};

/**
 * Whether the stream is another one than that event was in, and behind it: made anew after a removal, by a server whose clock was put
 * back. What comes now would not be after that event for as long as the clocks differed.
 */
const isBehind = async (queue: QueuePort, eventId: string): Promise<boolean> => {
  const newest = await queue.lastEventId();
  return newest !== undefined && isLater(eventId, newest);
};

const openSink = (
  { sink }: WatchRequest<unknown>,
  positions: Record<string, string>,
): Sink & { close(): Promise<void> } => {
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();
  return {
    isClosed: () => isClosed,
    handOn: (location, updates, eventId) => {
      const turn = last.then(async () => {
        if (isClosed) return;
        const next: EventCursor = { ...positions, [location]: eventId };
        await sink(updates, toCursor(next));
        positions[location] = eventId;
      });
      last = turn.catch(() => {});
      return turn;
    },
    close: () => {
      isClosed = true;
      return last;
    },
  };
};

/** Hands on one queue's events until the sink closes. Rejects when Redis stays away. */
const follow = async (
  client: BullmqClient,
  location: QueueLocation,
  reader: EventReader,
  first: string,
  sink: Sink,
  log: CallContext["log"],
): Promise<void> => {
  const name = `${location.prefix}:${location.queue}`;
  let after = first;
  let failures = 0;
  let unsaved = 0;
  while (!sink.isClosed()) {
    try {
      const events = await reader.read(after, eventsAtOnce);
      const next = events.at(-1)?.eventId;
      const queue = await client.open(location);
      if (next === undefined) {
        if (await isBehind(queue, after)) after = beginning;
      } else {
        const updates = await readUpdates(queue, events, log);
        unsaved += events.length;
        if (updates.length > 0 || unsaved >= keepCursorEvery) {
          await sink.handOn(name, updates, next);
          unsaved = 0;
        }
        after = next;
      }
      failures = 0;
    } catch (error) {
      if (sink.isClosed()) return;
      if (++failures > maxFailures) throw error;
      await pause(failures);
    }
  }
};

/** Listens to queues, each on a connection of its own, from where the cursor left off. */
export const watchQueues = async (
  client: BullmqClient,
  locations: readonly QueueLocation[],
  request: WatchRequest<unknown>,
  context: CallContext,
): Promise<Subscription> => {
  const known = parseCursor(request.cursor);
  const positions: Record<string, string> = {};
  const begun = await Promise.all(
    locations.map(async (location) => {
      const name = `${location.prefix}:${location.queue}`;
      const queue = await client.open(location);
      const { after, missed } = await toPosition(queue, known[name]);
      positions[name] = after;
      return { location, name, after, missed, queue };
    }),
  );
  const { log } = context;
  const sink = openSink(request, positions);
  // Kept at once: what happens before the first event is handed on is not missed after a restart either.
  for (const { name, missed, after } of begun) {
    if (missed.length > 0)
      log("warn", `events of ${name} were dropped before they were read: ${missed.length} jobs are looked at`);
    await sink.handOn(name, missed, after);
  }
  // Given up meanwhile: nobody would close it.
  context.signal.throwIfAborted();
  const readers = begun.map(({ queue }) => queue.openEvents());
  const closeReaders = (): void => {
    for (const reader of readers) reader.close();
  };
  let hasEnded = false;
  const end = (error: unknown): void => {
    if (hasEnded || sink.isClosed()) return;
    hasEnded = true;
    void sink.close();
    closeReaders();
    const message = `no events from Redis at ${client.address}: ${error instanceof Error ? error.message : String(error)}`;
    request.ended(new BridgeError("unavailable", message, { operation: "watch", cause: error }));
  };
  const loops = begun.map(({ location, after }, index) =>
    follow(client, location, readers[index] as EventReader, after, sink, log).catch(end),
  );
  return {
    close: async () => {
      const closing = sink.close();
      closeReaders();
      await Promise.all([closing, ...loops]);
    },
  };
};
