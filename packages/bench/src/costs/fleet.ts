import { type Access, createTaskEngine, localOwner, type TaskEngine } from "@taskbridge/core";
import { type FakeClock, fakeClock, sharedMemory } from "@taskbridge/testkit";
import { type FakeAdapterOptions, type FakeBackend, fakeAdapter } from "@taskbridge/testkit/adapter";
import { type Calls, countedStore } from "./count-calls.ts";

export interface FleetOptions {
  readonly replicas: number;
  /** Whether the backend tells by itself what happens. */
  readonly pushes: boolean;
}

/** Servers on one store and one backend, in a time of their own, whose calls are counted. */
export interface Fleet {
  readonly clock: FakeClock;
  readonly backend: FakeBackend;
  readonly engines: readonly TaskEngine[];
  /** The server that is called. */
  readonly engine: TaskEngine;
  /** Calls since the last time: of the first server, of all others, and what reached the backend. */
  take(): FleetCalls;
  /** Starts a task at the first server and resolves with its ID. */
  start(): Promise<string>;
  close(): Promise<void>;
}

export interface FleetCalls {
  readonly store: Calls;
  readonly others: Calls;
  readonly backend: Calls;
}

export const access: Access = { owner: localOwner };

/** Each time alike: all servers have been open for a moment, and nothing is due by itself for the next two seconds. */
export const openFleet = async ({ replicas, pushes }: FleetOptions): Promise<Fleet> => {
  const clock = fakeClock();
  const shared = sharedMemory({ clock });
  const options: FakeAdapterOptions = { clock, ...(pushes ? {} : { without: ["watch"] }) };
  const { backend } = fakeAdapter(options);
  const stores = Array.from({ length: replicas }, () => countedStore(shared.open()));
  const engines = stores.map(({ store }) =>
    createTaskEngine({
      store,
      clock,
      adapters: { fake: backend.connect() },
      tools: [{ name: "job", adapter: "fake", target: { run: "job" }, task: { retentionMs: 3_600_000 } }],
    }),
  );
  for (const engine of engines) await engine.open();
  await clock.advance(100);
  let seen = 0;
  const [engine] = engines;
  if (engine === undefined) throw new Error("a fleet has at least one server");
  const take = (): FleetCalls => {
    const backendCalls = backend.calls.slice(seen).map(({ verb }) => ({ [verb]: 1 }));
    seen = backend.calls.length;
    const [first = {}, ...others] = stores.map((counted) => counted.take());
    return { store: first, others: sum(others), backend: sum(backendCalls) };
  };
  take();
  return {
    clock,
    backend,
    engines,
    engine,
    take,
    start: async () => (await engine.createTask({ tool: "job", input: {}, owner: localOwner })).record.taskId,
    close: async () => {
      for (const one of engines) await one.close();
    },
  };
};

export const sum = (all: readonly Calls[]): Calls => {
  const total: Record<string, number> = {};
  for (const calls of all) for (const [verb, count] of Object.entries(calls)) total[verb] = (total[verb] ?? 0) + count;
  return total;
};
