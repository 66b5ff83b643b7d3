import { memoryStore } from "@taskbridge/core/memory";
import { type FakeAdapterOptions, type FakeBackend, fakeAdapter } from "@taskbridge/testkit/adapter";
import { createTaskServer, type ListenOptions, type TaskServer, type TaskServerOptions } from "../src/index.ts";
import { type RpcClient, rpcClient } from "./rpc-client.ts";

export interface Served {
  readonly server: TaskServer;
  readonly backend: FakeBackend;
  readonly url: string;
  readonly rpc: RpcClient;
}

export interface ServeOptions extends Partial<TaskServerOptions> {
  readonly fake?: FakeAdapterOptions;
  readonly listen?: ListenOptions;
}

const running: TaskServer[] = [];

/** For `afterEach`. */
export const stopAll = async (): Promise<void> => {
  await Promise.all(running.splice(0).map((server) => server.close()));
};

/** A server that is closed after the test. */
export const start = async ({ fake, ...options }: ServeOptions = {}): Promise<Omit<Served, "url" | "rpc">> => {
  const { adapter, backend } = fakeAdapter(fake);
  const server = await createTaskServer({
    name: "test",
    version: "1.2.3",
    store: memoryStore(),
    adapters: { fake: adapter },
    tools: [{ name: "job", adapter: "fake", target: { run: "job" } }],
    waitMs: 50,
    ...options,
  });
  running.push(server);
  return { server, backend };
};

/** A server on a free port of this machine that is closed after the test. */
export const serve = async ({ listen, ...options }: ServeOptions = {}): Promise<Served> => {
  const { server, backend } = await start(options);
  const { url } = await server.listen({ port: 0, ...listen });
  return { server, backend, url, rpc: rpcClient(url) };
};

/** Waits, at most twenty seconds, until it is true. */
export const eventually = async (isTrue: () => unknown): Promise<void> => {
  const deadline = Date.now() + 20_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within 20 s: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** The result of a promise, or an error after twenty seconds. */
export const inTime = async <Value>(work: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("not within 20 s")), 20_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};
