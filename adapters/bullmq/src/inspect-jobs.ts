import {
  type CallContext,
  type ExecutionChild,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  isBridgeError,
  isEnded,
  toBridgeError,
} from "@taskbridge/core/adapter";
import { cancelJob } from "./cancel-job.ts";
import { findLostJobs, toUnlisted } from "./events/find-lost-jobs.ts";
import type { SearchEvents } from "./events/search-events.ts";
import { type JobLocation, parseRef } from "./execution-ref.ts";
import { isReply, toError } from "./mapping/to-error.ts";
import { lastStack, toSnapshot } from "./mapping/to-snapshot.ts";
import type { BullmqClient, JobRow, QueuePort, QueueRead } from "./redis/client.ts";

const call = { operation: "inspect", ifSent: "unavailable" } as const;

interface Wanted {
  readonly index: number;
  readonly location: JobLocation;
  readonly isDetailed: boolean;
  readonly previous: ExecutionSnapshot | undefined;
}

/** Those of one queue together. */
const byQueue = <Item extends { readonly location: JobLocation }>(
  items: readonly Item[],
): readonly (readonly Item[])[] => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = `${item.location.prefix}:${item.location.queue}`;
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()];
};

/** Opens the queue of such a group and reads its jobs. */
const readGroup = async (
  client: BullmqClient,
  group: readonly { readonly location: JobLocation }[],
  { detailed, parent }: { readonly detailed?: ReadonlySet<string>; readonly parent?: JobLocation } = {},
): Promise<QueueRead & { readonly queue: QueuePort }> => {
  const locations = group.map(({ location: call }) => call);
  const queue = await client.open(locations[0] as JobLocation, parent);
  const read = await queue.read(
    locations.map(({ id }) => id),
    detailed,
  );
  return { ...read, queue };
};

const isCancelledInQueue = ({ cancelReason, state }: JobRow): boolean =>
  cancelReason !== undefined && (state === "waiting" || state === "delayed" || state === "waiting-children");

/** What the children of a job are doing, over all queues, in one more round trip. */
const readChildren = async (
  client: BullmqClient,
  queue: QueuePort,
  parent: JobLocation,
  { childKeys }: JobRow,
): Promise<Pick<ExecutionSnapshot, "children">> => {
  if (childKeys.length === 0) return {};
  const found = await Promise.all(childKeys.map((key) => queue.locate(key)));
  const locations = found.flatMap((call) => (call === undefined ? [] : [{ location: call }]));
  const groups = await Promise.all(
    byQueue(locations).map(async (group) => {
      const { rows, isPaused } = await readGroup(client, group, { parent });
      return rows.map((row, index): ExecutionChild => {
        const name = row.name ?? group[index]?.location.id ?? "job";
        // Its parent still counts it, so that it was processed and then removed.
        return { name, status: row.state === "missing" ? "succeeded" : toSnapshot(row, { isPaused }).status };
      });
    }),
  );
  return { children: groups.flat() };
};

/** Tells operators of a failure what models do not need to know. */
const logStack = (row: JobRow, { location: call, previous }: Wanted, context: CallContext): void => {
  const stack = row.state === "failed" ? lastStack(row) : undefined;
  if (stack === undefined || (previous !== undefined && isEnded(previous.status))) return;
  context.log("warn", `job ${call.id} of ${call.queue} failed`, { attempts: row.attemptsMade, stack });
};

/** Looks at jobs of one queue: one round trip, and more only for detail, for what is missing, and for what is cancelled but came back. */
const inspectQueue = async (
  client: BullmqClient,
  wanted: readonly Wanted[],
  search: SearchEvents,
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const detailed = new Set(wanted.filter(({ isDetailed }) => isDetailed).map(({ location: call }) => call.id));
  const { queue, rows, exists, isPaused } = await readGroup(client, wanted, { detailed });
  const idsOf = (state: JobRow["state"]): readonly string[] =>
    wanted.filter((_, index) => rows[index]?.state === state).map(({ location: call }) => call.id);
  const [lost, workers] = await Promise.all([
    findLostJobs(queue, idsOf("missing"), exists, search),
    // Some hosted Redis do not list their clients.
    idsOf("waiting").some((id) => detailed.has(id)) ? queue.countWorkers().catch(() => undefined) : undefined,
  ]);
  const inspectOne = async (want: Wanted, row: JobRow): Promise<InspectOutcome> => {
    if (row.state === "unlisted") return { notFound: toUnlisted(queue) };
    const found = lost.get(want.location.id);
    if (found !== undefined) return found;
    if (isCancelledInQueue(row)) {
      // Its worker has given it back, to be tried again or to wait.
      const goneReason = row.cancelReason ?? "";
      const cancelled = await cancelJob(client, want.location, { reason: goneReason, now: context.now() });
      if (cancelled === "removed") return { snapshot: toSnapshot({ ...row, state: "gone", goneReason }, { isPaused }) };
    }
    logStack(row, want, context);
    if (!want.isDetailed) return { snapshot: toSnapshot(row, { isPaused }) };
    const children = await readChildren(client, queue, want.location, row);
    return { snapshot: { ...toSnapshot(row, { isPaused, workers }), ...children } };
  };
  const toOutcome = (want: Wanted, row: JobRow): Promise<InspectOutcome> =>
    inspectOne(want, row).catch((error: unknown): InspectOutcome => {
      if (!isBridgeError(error) && !isReply(error)) throw error;
      return { error: toError(error, { ...call, wasSent: true, hasChanged: true }) };
    });
  return Promise.all(wanted.map((want, index) => toOutcome(want, rows[index] as JobRow)));
};

/**
 * Looks at many jobs of any number of queues. Rejects when Redis cannot be asked; what is wrong with one job, or with its
 * children's queue, is that job's outcome. A look writes where a cancelled job was given back by its worker: it removes it.
 */
export const inspectJobs = async (
  client: BullmqClient,
  items: readonly InspectItem[],
  search: SearchEvents,
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const outcomes: InspectOutcome[] = [];
  const wanted = items.flatMap(({ ref, want, previous }, index): Wanted[] => {
    try {
      return [{ index, location: parseRef(ref), isDetailed: want === "detail", previous }];
    } catch (error) {
      outcomes[index] = { error: toBridgeError(error) };
      return [];
    }
  });
  await Promise.all(
    byQueue(wanted).map(async (group) => {
      const found = await inspectQueue(client, group, search, context);
      for (const [position, { index }] of group.entries()) outcomes[index] = found[position] as InspectOutcome;
    }),
  );
  return outcomes;
};
