import type { TaskId } from "@taskbridge/core/store";
import { taskAt, taskIdAt } from "./sample-task.ts";
import { expectThat, type SeededStore, times, type Verb } from "./verb.ts";

/** What a poll and an event cost. */
export const readingVerbs = ({ store, population, draw, read }: SeededStore): readonly Verb[] => [
  {
    name: "read",
    prepare: async (count) =>
      times(count, () => {
        const taskId = taskIdAt(population, draw());
        return () => read(taskId);
      }),
  },
  {
    name: "read a result",
    prepare: async (count) => {
      const ids: TaskId[] = [];
      while (ids.length < count) {
        const { record } = taskAt(population, draw());
        if (record.output !== undefined) ids.push(record.taskId);
      }
      return ids.map((taskId) => async () => {
        const chunk = await store.readPayload(taskId, "output", { offset: 0, length: 65_536 });
        expectThat(chunk !== undefined, `has no result of ${taskId}`);
      });
    },
  },
  {
    name: "find by execution",
    prepare: async (count) =>
      times(count, () => {
        const { record } = taskAt(population, draw());
        return async () => {
          const found = record.ref && (await store.findByExecution(record.adapterId, { ref: record.ref }));
          expectThat(found?.taskId === record.taskId, `does not find ${record.ref}`);
        };
      }),
  },
];
