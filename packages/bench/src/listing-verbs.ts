import type { ListFilter, ListScope } from "@taskbridge/core/store";
import { adapters, hugeOwner, smallOwner, smallOwners, taskAt, tools } from "./sample-task.ts";
import { expectThat, type SeededStore, times, type Verb } from "./verb.ts";

const pageSize = 50;
/** As many as run at one adapter in the smaller of two stores as well, so that the same is read from both. */
const sweepPageSize = 25;
/** Operators and sweeps are few. */
const operatorsAtOnce = 2;
/** While the middle of a long list is looked for. */
const strideSize = 1_000;

/** What a page costs, of few and of many, first and deep. */
export const listingVerbs = (seeded: SeededStore): readonly Verb[] => {
  const { population, draw } = seeded;
  const everybody: ListScope = { operator: true };
  const someOwner = (): ListScope => ({ owner: smallOwner(draw() % smallOwners(population)) });
  const { adapterId } = taskAt(population, draw() % adapters).record;
  return [
    listing(seeded, "list, small owner", () => [someOwner(), { includeExpired: true }]),
    listing(seeded, "list, huge owner", () => [{ owner: hugeOwner }, {}]),
    deepListing(seeded, "list, huge owner, deep", { owner: hugeOwner }, population.size / 10),
    ...[
      listing(seeded, "list, operator", () => [everybody, {}]),
      deepListing(seeded, "list, operator, deep", everybody, population.size),
      listing(seeded, "list, operator, one of 40 tools", (index) => [everybody, { tool: `pipeline-${index % tools}` }]),
      listing(
        seeded,
        "list, open of an adapter (sweep)",
        () => [everybody, { adapterId, slotHeld: true, includeExpired: true }],
        sweepPageSize,
      ),
    ].map((verb) => ({ ...verb, atOnce: operatorsAtOnce })),
  ];
};

const listing = (
  { store }: SeededStore,
  name: string,
  ask: (index: number) => readonly [ListScope, ListFilter],
  size = pageSize,
): Verb => ({
  name,
  prepare: async (count) =>
    times(count, (index) => {
      const [scope, filter] = ask(index);
      return async () => {
        const { records } = await store.list(scope, filter, undefined, size);
        expectThat(records.length > 0, `lists nothing: ${name}`);
      };
    }),
});

/** From the middle of the list on, which has about `length` records. */
const deepListing = ({ store }: SeededStore, name: string, scope: ListScope, length: number): Verb => {
  let middle: string | undefined;
  const findMiddle = async (): Promise<string | undefined> => {
    let cursor: string | undefined;
    for (let left = Math.floor(length / 2); left > 0; left -= strideSize)
      cursor = (await store.list(scope, {}, cursor, Math.min(strideSize, left))).cursor;
    return cursor;
  };
  return {
    name,
    prepare: async (count) => {
      middle ??= await findMiddle();
      expectThat(middle !== undefined, `has no middle: ${name}`);
      return times(count, () => async () => {
        const { records } = await store.list(scope, {}, middle, pageSize);
        expectThat(records.length === pageSize, `lists too little: ${name}`);
      });
    },
  };
};
