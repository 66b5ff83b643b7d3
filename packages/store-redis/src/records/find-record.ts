import type { AdapterId, TaskRecord } from "@taskbridge/core/store";
import type { ExecutionKey } from "../keys.ts";
import type { Call } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { dropGone, readEntries } from "./list-records.ts";

/** As many as a ref may have had that was taken over; more than one is rare. */
const mostCandidates = 16;

/** The newest record of that adapter with this ref or start key. */
export const findRecord = async (
  context: StoreContext,
  call: Call,
  adapterId: AdapterId,
  by: ExecutionKey,
): Promise<TaskRecord | undefined> => {
  const set = context.keys.execution(adapterId, by);
  const [entries] = (await context.port.send(call, [{ call: ["zrevrange", set, 0, mostCandidates - 1] }])) as [
    readonly string[],
  ];
  if (entries.length === 0) return undefined;
  const found = await readEntries(context, call, entries);
  await dropGone(context, call, set, found);
  const isMeant = (record: TaskRecord | undefined): boolean =>
    record?.adapterId === adapterId && ("ref" in by ? record.ref === by.ref : record.startKey === by.key);
  return found.map(({ record }) => record).find(isMeant);
};
