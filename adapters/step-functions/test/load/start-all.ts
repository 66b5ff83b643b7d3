import type { TaskClient } from "../task-client.ts";

/** Starts so many, a few at a time. Their tasks' IDs, in the order of their numbers. */
export const startAll = async (client: TaskClient, count: number): Promise<readonly string[]> => {
  const taskIds: string[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) taskIds[n] = (await client.start("work", { n })).taskId;
  };
  await Promise.all(Array.from({ length: 32 }, caller));
  return taskIds;
};
