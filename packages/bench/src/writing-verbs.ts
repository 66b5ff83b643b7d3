import type { TaskId } from "@taskbridge/core/store";
import { smallOwner, smallOwners, taskAt, taskIdAt } from "./sample-task.ts";
import { differentIds, forEachOf, type SeededStore, times, type Verb } from "./verb.ts";

/** What a start and a change cost. */
export const writingVerbs = (seeded: SeededStore): readonly Verb[] => [
  creation(seeded, "create", null),
  creation(seeded, "create, limited for its tool", 1_000_000),
  revision(seeded, "revise", true),
  revision(seeded, "revise, not durable", false),
  {
    name: "lease",
    prepare: async (count) =>
      times(count, () => {
        const name = `inspect:${taskIdAt(seeded.population, seeded.draw())}`;
        return () => seeded.store.lease(name, 500);
      }),
  },
];

/** New tasks of owners who have few, limited as servers limit them. They are removed again. */
const creation = ({ store, population }: SeededStore, name: string, maxOpenForTool: number | null): Verb => {
  let number = population.size;
  let created: TaskId[] = [];
  return {
    name,
    prepare: async (count) =>
      times(count, () => {
        number += 1;
        const { record, payloads } = taskAt({ ...population, seed: `${population.seed} ${name}` }, number);
        const owner = smallOwner(number % smallOwners(population));
        const fresh = { ...record, owner, state: "queued", slotHeld: true, wakeAt: store.now() + 30_000 } as const;
        const input = payloads.filter((payload) => payload.name === "input");
        created.push(record.taskId);
        return () => store.create(fresh, { uniqueKeys: [], maxOpenForOwner: 50, maxOpenForTool, payloads: input });
      }),
    undo: async () => {
      await forEachOf(created, store.remove);
      created = [];
    },
  };
};

const revision = (seeded: SeededStore, name: string, durable: boolean): Verb => ({
  name,
  prepare: async (count) => {
    const records = await forEachOf(differentIds(seeded, count), seeded.read);
    return records.map((record) => () => {
      const message = `${record.message?.slice(0, 40)} ${record.revision}`;
      return seeded.store.revise({ ...record, message, updatedAt: seeded.store.now() }, record.revision, { durable });
    });
  },
});
