import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { Redis } from "ioredis";
import type { KeptJob, KeptTask } from "../checks/evidence.ts";
import { hasNext } from "./next-version-store.ts";
import { queueName, queuePrefix } from "./write-config.ts";

/** What clients call it: one that they have minted is kept with its owner before it. */
export const toPublicId = (taskId: string): string => taskId.slice(taskId.indexOf("~") + 1);

interface Input {
  readonly call: string;
}

/** The call of each job that a worker has begun, or Redis still has the data of. */
export type CallsOfJobs = ReadonlyMap<string, string>;

/** Every record, whoever's, also those that have expired. */
export const readRecords = async (store: TaskStore): Promise<readonly TaskRecord[]> => {
  const records: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ operator: true }, { includeExpired: true }, cursor, 100);
    records.push(...page.records);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return records;
};

/** It has ended, and nothing of it is at work any more. */
export const isOver = (record: TaskRecord): boolean => record.endedAt !== undefined && !record.slotHeld;

/** Every task, with the call that its stored arguments name, or else the job that has its start key. */
export const readTasks = async (
  store: TaskStore,
  calls: CallsOfJobs,
  nextTaskIds: ReadonlySet<string>,
): Promise<readonly KeptTask[]> =>
  Promise.all(
    (await readRecords(store)).map(async (record) => {
      const chunk = await store.readPayload(record.taskId, "input", { offset: 0, length: 10_000 });
      const text = chunk === undefined ? undefined : Buffer.from(chunk.bytes).toString();
      const { taskId, startKey, state, message, deleted = false, expired = false } = record;
      return {
        taskId: toPublicId(taskId),
        call: text === undefined ? (calls.get(startKey) ?? "unknown") : (JSON.parse(text) as Input).call,
        startKey,
        state,
        message,
        isOver: isOver(record),
        isDeleted: deleted || expired,
        isOfNext: nextTaskIds.has(taskId),
        hasNext: hasNext(record),
      };
    }),
  );

/** Every hash of the queue that holds a job, whatever its ID. `callOf`: of one that was removed. */
export const readJobs = async (url: string, callOf: (id: string) => string): Promise<readonly KeptJob[]> => {
  const redis = new Redis(url);
  try {
    const base = `${queuePrefix}:${queueName}:`;
    const keys = new Set<string>();
    for await (const page of redis.scanStream({ match: `${base}*`, type: "hash", count: 1_000 }))
      for (const key of page as string[]) keys.add(key);
    const jobs = await Promise.all(
      [...keys].map(async (key) => {
        const fields = (await redis.hgetall(key)) as Record<string, string | undefined>;
        const { data, returnvalue, failedReason, ats = "0", stc = "0" } = fields;
        if (data === undefined) return [];
        const id = key.slice(base.length);
        const { call } = JSON.parse(data) as Partial<Input>;
        return [
          {
            id,
            call: call ?? callOf(id),
            isRemoved: call === undefined,
            returned: returnvalue,
            failedReason,
            given: Number(ats),
            stalls: Number(stc),
          },
        ];
      }),
    );
    return jobs.flat();
  } finally {
    redis.disconnect();
  }
};
