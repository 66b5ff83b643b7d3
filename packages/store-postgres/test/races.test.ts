import { expect, it } from "@jest/globals";
import { isBridgeError, type TaskRecord, type TaskStore } from "@taskbridge/core/store";
import { seeded } from "@taskbridge/testkit";
import { createSample } from "@taskbridge/testkit/store";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";

const calls = 500;
const atOnce = 16;
const answers = ["conflict", "not_found", "limit_exceeded"];

/** What is left in one table of a task that is no longer in another. */
const orphans = (schema: string): string => `SELECT
  (SELECT count(*)::integer FROM ${schema}.payloads LEFT JOIN ${schema}.tasks t USING (task_id) WHERE t.task_id IS NULL) AS payloads,
  (SELECT count(*)::integer FROM ${schema}.wakes LEFT JOIN ${schema}.tasks t USING (task_id) WHERE t.task_id IS NULL) AS wakes,
  (SELECT count(*)::integer FROM ${schema}.unique_keys k LEFT JOIN ${schema}.tasks t USING (task_id)
    WHERE t.task_id IS NULL AND k.until IS NULL) AS keys,
  (SELECT count(*)::integer FROM ${schema}.payload_chunks LEFT JOIN ${schema}.payloads p USING (content)
    WHERE p.content IS NULL) AS chunks`;

describeWithPostgres("everything at once", () => {
  const { url, run, newSchema } = useDatabase();

  it("waits for nobody in a circle, and leaves nothing of what is gone", async () => {
    const schema = newSchema();
    const stores = await Promise.all([1, 2].map(() => postgresStore({ url: url(), schema })));
    const random = seeded(8);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    const live: TaskRecord[] = [];

    const create = async (store: TaskStore): Promise<void> => {
      const keys = ["a", "b", "c", "d", "e"].filter(() => random() < 0.5).toSorted(() => random() - 0.5);
      const soon = { until: store.now() + 5, heldForMs: 5 };
      const uniqueKeys = keys.map((key) => ({ key, ...pick([{}, soon, { heldForMs: 5 }]) }));
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(pick([10, 70_000])) }];
      const options = { uniqueKeys, payloads, maxOpenForOwner: 50, maxOpenForTool: 60 };
      live.push(await createSample(store, { wakeAt: store.now(), tool: pick(["x", "y"]) }, options));
    };
    const revise = async (store: TaskStore): Promise<void> => {
      const record = await store.read(pick(live).taskId);
      if (record !== undefined)
        await store.revise({ ...record, wakeAt: store.now() }, record.revision, { dropPayloads: "all" });
    };
    const verbs: readonly ((store: TaskStore) => Promise<unknown>)[] = [
      ...[create, create, create, revise],
      (store) => store.remove(pick(live).taskId),
      (store) => store.putPayload(pick(live).taskId, "output", 0, new Uint8Array(100)),
      (store) => store.due(20, 5),
      () => run(`SELECT "${schema}".sweep(100)`),
    ];

    await create(stores[0] as TaskStore);
    let left = calls;
    let done = 0;
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        await pick(verbs)(pick(stores)).then(
          () => (done += 1),
          (error: unknown) => {
            if (!isBridgeError(error) || !answers.includes(error.code)) throw error;
          },
        );
      }
    };
    const [before] = await run<{ readonly deadlocks: string }>(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    await Promise.all(Array.from({ length: atOnce }, worker));
    for (const store of stores) await store.close();
    expect(done).toBeGreaterThan(calls / 4);
    expect(await run(orphans(`"${schema}"`))).toEqual([{ payloads: 0, wakes: 0, keys: 0, chunks: 0 }]);
    const [after] = await run<{ readonly deadlocks: string }>(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    expect(after).toEqual(before);
  });
});
