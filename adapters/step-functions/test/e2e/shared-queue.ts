import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { stepFunctions } from "../../src/index.ts";
import { type Facade, startFacade } from "../facade/facade.ts";
import { runsOn } from "../facade/script.ts";
import { type MotoBench, toEvent } from "../moto-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { until } from "../until.ts";

const tasks = 20;
/** So rarely that what is noticed before was heard of, or found by the slow look at all that nobody asks for. */
const inspectEveryMs = 60_000;
const sweepIntervalMs = 8_000;

interface Listener {
  readonly client: TaskClient;
  /** Events about executions that its store does not know. */
  foreign(): number;
  close(): Promise<void>;
}

const listenTo = async (queueUrl: string, queueEndpoint: string, facade: Facade, path: string): Promise<Listener> => {
  const store = await sqliteStore({ path });
  let foreign = 0;
  const { region, endpoint } = facade;
  const server = await createTaskServer({
    name: "listener",
    store,
    audit: ({ kind }) => {
      if (kind === "unmatched_update") foreign += 1;
    },
    limits: { sweepIntervalMs, maxConcurrentTasksPerOwner: 100 },
    adapters: { aws: stepFunctions({ region, endpoint, queueUrl, queueEndpoint }) },
    tools: [
      {
        name: "letters",
        description: "Sends letters.",
        adapter: "aws",
        target: { stateMachine: "letters" },
        input: { type: "object", properties: { n: { type: "integer" } } },
        task: { pollIntervalMs: inspectEveryMs },
      },
    ],
  });
  const { url } = await server.listen({ port: 0 });
  return {
    client: taskClient(url),
    foreign: () => foreign,
    close: async () => {
      await server.close();
      await store.close();
    },
  };
};

const startAll = (client: TaskClient, from: number): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: tasks }, async (_, index) => (await client.start("letters", { n: from + index })).taskId),
  );

/** The number of its order that an ended task puts out. */
const numberOf = ({ result }: SeenTask): unknown => JSON.parse(result?.content[0]?.text ?? "null");

const numbersFrom = (from: number): readonly number[] => Array.from({ length: tasks }, (_, index) => from + index);

export const testSharedQueue = (getBench: () => MotoBench): void => {
  it("tells each end to one of them: its store's servers know it at once, another's by their next sweep", async () => {
    const bench = getBench();
    const queueUrl = await bench.queue("shared");
    const facade = await startFacade();
    const machine = facade.machine("letters", runsOn);
    const folder = await mkdtemp(join(tmpdir(), "taskbridge-shared-"));
    // Two on one store, and one on a store of its own.
    const servers: readonly Listener[] = await Promise.all(
      ["ours", "ours", "theirs"].map((name) => listenTo(queueUrl, bench.endpoint, facade, join(folder, `${name}.db`))),
    );
    try {
      const [one, other, third] = servers as readonly [Listener, Listener, Listener];
      const [mine, theirs] = await Promise.all([startAll(one.client, 0), startAll(third.client, 100)]);
      const endedAt = Date.now();
      await Promise.all(
        facade.executions(machine).map(({ arn, name, input }) => {
          facade.end(arn, { status: "SUCCEEDED", output: JSON.stringify((JSON.parse(input) as { n: number }).n) });
          return bench.send(
            toEvent({ executionArn: arn, stateMachineArn: machine, name, status: "SUCCEEDED" }),
            queueUrl,
          );
        }),
      );

      const seenAt = new Map<string, number>();
      const see = async (by: string, { client }: Listener, taskIds: readonly string[]) => {
        const seen = await Promise.all(taskIds.map((taskId) => client.get(taskId)));
        for (const { taskId, status } of seen)
          if (status !== "working" && !seenAt.has(by + taskId)) seenAt.set(by + taskId, Date.now() - endedAt);
        return seen;
      };
      const reported = await until(
        "all ends are noticed by all who should",
        async () => {
          const seen = await Promise.all([see("one", one, mine), see("other", other, mine), see("", third, theirs)]);
          return seen.flat().every(({ status }) => status === "completed") ? seen : undefined;
        },
        inspectEveryMs / 2,
        500,
      );

      expect(reported.map((seen) => seen.map(numberOf))).toEqual([numbersFrom(0), numbersFrom(0), numbersFrom(100)]);
      expect(facade.executions(machine)).toHaveLength(2 * tasks);
      const misled = servers.map(({ foreign }) => foreign());
      const dropped = misled.reduce((sum, count) => sum + count, 0);
      const late = [...seenAt.values()].toSorted((a, b) => a - b);
      const maxLength = late.at(-1) ?? 0;
      process.stderr.write(
        `shared queue: ${2 * tasks} ends of two stores, ${dropped} taken by a server of the other one (${misled.join(", ")}); ` +
          `noticed after ${late[0]} to ${maxLength} ms, sweeps every ${sweepIntervalMs} ms\n`,
      );
      // Some of each: else nothing of this was tried.
      expect(dropped).toBeGreaterThan(0);
      expect(dropped).toBeLessThan(2 * tasks);
      expect(maxLength).toBeLessThan(2 * sweepIntervalMs + 4_000);
    } finally {
      await Promise.all(servers.map(({ close }) => close()));
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    }
  }, 90_000);
};
