import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import type { FakeClock } from "@taskbridge/testkit";
import { type FakeBackend, fakeAdapter } from "@taskbridge/testkit/adapter";
import type { TaskServer } from "../../src/index.ts";
import { countRevived } from "../count-revived.ts";
import { fetchHere } from "../fetch-here.ts";
import { job } from "../rev-2025/task-calls.ts";
import { type ServeOptions, serve, stopAll } from "../serve.ts";

export interface Replica {
  readonly server: TaskServer;
  readonly url: string;
  readonly store: TaskStore;
  /** How many sessions it has gone on with that began elsewhere, or made room. */
  revived(): number;
}

/** Servers that share a store and a backend. */
export interface Fleet {
  readonly backend: FakeBackend;
  readonly replicas: readonly Replica[];
  /** A `fetch` that sends each request to the next replica that is there, as a balancer without sticky routing. */
  readonly fetch: typeof fetch;
  /** Stops a replica; the others get what comes from now on. */
  stop(replica: Replica): Promise<void>;
  /** How many requests each replica has got that way. */
  readonly served: readonly number[];
}

export interface FleetOptions extends ServeOptions {
  readonly clock?: FakeClock;
}

const folders: string[] = [];

/** For `afterEach`. */
export const stopFleet = async (): Promise<void> => {
  await stopAll();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
};

export const startFleet = async (count: number, { fake, ...options }: FleetOptions = {}): Promise<Fleet> => {
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-"));
  folders.push(folder);
  const { adapter, backend } = fakeAdapter(fake);
  const replicas: Replica[] = [];
  for (let index = 0; index < count; index++) {
    const { clock } = options;
    const store = await sqliteStore({ path: join(folder, "tasks.db"), ...(clock === undefined ? {} : { clock }) });
    const { log, revived } = countRevived();
    const adapters = { fake: index === 0 ? adapter : backend.connect() };
    const { server, url } = await serve({ tools: [job], ...options, adapters, store, log });
    replicas.push({ server, url, store, revived });
  }
  const served = replicas.map(() => 0);
  const stopped = new Set<Replica>();
  let turn = 0;
  const roundRobin: typeof fetch = async (_input, init) => {
    const up = replicas.filter((replica) => !stopped.has(replica));
    const replica = up[turn++ % up.length] as Replica;
    const response = await fetchHere(replica.url, init);
    const index = replicas.indexOf(replica);
    served[index] = (served[index] ?? 0) + 1;
    return response;
  };
  const stop = async (replica: Replica): Promise<void> => {
    stopped.add(replica);
    await replica.server.close();
  };
  return { backend, replicas, fetch: roundRobin, stop, served };
};
