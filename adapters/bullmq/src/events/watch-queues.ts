import {
  asStartKey,
  BridgeError,
  type CallContext,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type Subscription,
  type WatchRequest,
} from "@taskbridge/core/adapter";
import { type JobPlace, toRef } from "../execution-ref.ts";
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
const longestPauseMs = 500;
/** So many failures in a row end the subscription; the engine makes a new one. */
const mostFailures = 20;
/** After so many events of others the cursor is kept, so that it does not fall behind the stream. */
const keepCursorEvery = 1_000;
const mostHints = 10_000;
/** A larger result (bytes) is not taken along with its event. */
const mostTaken = 4 * 1024 * 1024;

type Place = Pick<JobPlace, "prefix" | "queue">;

/** What several loops share: one cursor, saved in one order. */
interface Sink {
  readonly isClosed: () => boolean;
  handOn(place: string, updates: readonly ExecutionUpdate[], eventId: string): Promise<void>;
}

/** Short at first: mostly a connection was cut, and another is there at once. */
const pause = (failures: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(10 * 4 ** (failures - 1), longestPauseMs)));

/** The result is in the event: it is taken now, whatever becomes of the job. */
const withResult = (snapshot: ExecutionSnapshot, end: KeptEnd | undefined): ExecutionSnapshot => {
  if (snapshot.output?.kind !== "stream" || end?.event !== "completed" || end.text.length > mostTaken) return snapshot;
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
  const told = new Map<string, KeptEnd | undefined>();
  for (const parsed of events.flatMap((event) => parseEvent(event) ?? [])) {
    const before = told.get(parsed.jobId);
    told.delete(parsed.jobId);
    told.set(parsed.jobId, parsed.end ?? before);
  }
  if (told.size === 0) return [];
  const { rows, isPaused } = await queue.read([...told.keys()]);
  return [...told].flatMap(([id, end], index) => {
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
  const ids = (await queue.endedIds(mostHints)).filter(isOurId);
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
    handOn: (place, updates, eventId) => {
      const turn = last.then(async () => {
        if (isClosed) return;
        const next: EventCursor = { ...positions, [place]: eventId };
        await sink(updates, toCursor(next));
        positions[place] = eventId;
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
  place: Place,
  reader: EventReader,
  first: string,
  sink: Sink,
  log: CallContext["log"],
): Promise<void> => {
  const name = `${place.prefix}:${place.queue}`;
  let after = first;
  let failures = 0;
  let unsaved = 0;
  while (!sink.isClosed()) {
    try {
      const events = await reader.read(after, eventsAtOnce);
      const next = events.at(-1)?.eventId;
      const queue = await client.open(place);
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
      if (++failures > mostFailures) throw error;
      await pause(failures);
    }
  }
};

/** Listens to queues, each on a connection of its own, from where the cursor left off. */
export const watchQueues = async (
  client: BullmqClient,
  places: readonly Place[],
  request: WatchRequest<unknown>,
  context: CallContext,
): Promise<Subscription> => {
  const known = parseCursor(request.cursor);
  const positions: Record<string, string> = {};
  const begun = await Promise.all(
    places.map(async (place) => {
      const name = `${place.prefix}:${place.queue}`;
      const queue = await client.open(place);
      const { after, missed } = await toPosition(queue, known[name]);
      positions[name] = after;
      return { place, name, after, missed, queue };
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
  const loops = begun.map(({ place, after }, index) =>
    follow(client, place, readers[index] as EventReader, after, sink, log).catch(end),
  );
  return {
    close: async () => {
      const closing = sink.close();
      closeReaders();
      await Promise.all([closing, ...loops]);
    },
  };
};
