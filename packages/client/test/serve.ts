import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/server";
import { memoryStore } from "@taskbridge/core/memory";
import { createTaskServer, type TaskServer, type TaskServerOptions } from "@taskbridge/server";
import { type FakeAdapterOptions, type FakeBackend, fakeAdapter } from "@taskbridge/testkit/adapter";
import type { PendingCall, SdkClient } from "../src/index.ts";

export interface Served {
  readonly server: TaskServer;
  readonly backend: FakeBackend;
  readonly url: string;
}

const endings: (() => Promise<unknown>)[] = [];

/** Runs at the end of the test, the last first. */
export const atEnd = (end: () => Promise<unknown>): void => void endings.push(end);

/** For `afterEach`. */
export const endAll = async (): Promise<void> => {
  for (const end of endings.splice(0).reverse()) await end();
};

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

const fake: FakeAdapterOptions = {
  scripts: {
    quick: (run) => run.succeed({ quick: true }),
    ask: (run) => run.ask({ message: "Sure?", schema: yes }),
    fails: (run) => run.fail("exit code 2"),
    large: (run) => run.succeed({ text: "x".repeat(300_000) }),
  },
  onAnswer: (run, { content }) => queueMicrotask(() => run.succeed({ answered: content ?? null })),
};

/** A server on a free port of this machine, whose jobs the test moves. */
export const serve = async (options: Partial<TaskServerOptions> & { readonly port?: number } = {}): Promise<Served> => {
  const { port = 0, ...serverOptions } = options;
  const { adapter, backend } = fakeAdapter(fake);
  const tool = (name: string): TaskServerOptions["tools"][number] => ({
    name,
    adapter: "fake",
    target: { run: name },
    task: { pollIntervalMs: 50 },
  });
  const server = await createTaskServer({
    name: "test",
    store: memoryStore(),
    adapters: { fake: adapter },
    tools: [
      ...["job", "quick", "ask", "fails", "large"].map(tool),
      { name: "plain", adapter: "fake", target: { run: "quick" }, task: { support: "forbidden" } },
    ],
    ...serverOptions,
  });
  const { url } = await server.listen({ port });
  atEnd(() => server.close());
  return { server, backend, url: String(url) };
};

/** Under Jest `Response.json` makes objects of another realm, which a client's schemas take for no plain objects. */
export const fetchHere: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  return Object.defineProperty(response, "json", { value: async () => JSON.parse(await response.text()) });
};

const clientInfo = { name: "host", version: "1" };
const capabilities = { elicitation: { form: {} } };

export const firstOverHttp = async (url: string): Promise<FirstClient> => {
  const client = new FirstClient(clientInfo, { capabilities });
  await client.connect(new FirstHttpTransport(new URL(url), { fetch: fetchHere }) as never);
  atEnd(() => client.close());
  return client;
};

export const secondOverHttp = async (url: string, mode: "auto" | "legacy"): Promise<Client> => {
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: fetchHere }));
  atEnd(() => client.close());
  return client;
};

/** The client's end of stdin and stdout of a server. */
const stdioOf = ({ server }: Served): InMemoryTransport => {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  void server.serveStdio({ transport: theirs as unknown as Transport });
  return mine;
};

export const firstOverStdio = async (served: Served): Promise<FirstClient> => {
  const client = new FirstClient(clientInfo, { capabilities });
  await client.connect(stdioOf(served));
  atEnd(() => client.close());
  return client;
};

export const secondOverStdio = async (served: Served, mode: "auto" | "legacy"): Promise<Client> => {
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode } });
  await client.connect(stdioOf(served) as never);
  atEnd(() => client.close());
  return client;
};

/** Every way that an SDK's client is connected, by name. `modern`: it speaks 2026-07-28. */
export const connections: readonly {
  readonly name: string;
  readonly modern: boolean;
  open(served: Served): Promise<SdkClient>;
}[] = [
  { name: "SDK 2, HTTP, 2026-07-28", modern: true, open: ({ url }) => secondOverHttp(url, "auto") },
  { name: "SDK 2, stdio, 2026-07-28", modern: true, open: (served) => secondOverStdio(served, "auto") },
  { name: "SDK 2, HTTP, legacy", modern: false, open: ({ url }) => secondOverHttp(url, "legacy") },
  { name: "SDK 2, stdio, legacy", modern: false, open: (served) => secondOverStdio(served, "legacy") },
  { name: "SDK 1, HTTP", modern: false, open: ({ url }) => firstOverHttp(url) },
  { name: "SDK 1, stdio", modern: false, open: (served) => firstOverStdio(served) },
];

/** Waits, at most twenty seconds, until it is true. */
export const eventually = async (isTrue: () => unknown): Promise<void> => {
  const deadline = Date.now() + 20_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within 20 s: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** The result of a call as the JSON that it is. */
export const jsonOf = async (pending: PendingCall): Promise<unknown> => {
  const { content, structuredContent } = await pending.result();
  const [block] = content;
  return structuredContent ?? JSON.parse(block?.type === "text" ? block.text : "null");
};

/** A server that can be started anew on its port, with the tasks and the jobs that it had. */
export const restartable = async (
  options: () => Partial<TaskServerOptions>,
): Promise<{ readonly url: string; backend(): FakeBackend; restart(): Promise<void> }> => {
  const { adapter, backend } = fakeAdapter(fake);
  const kept = { ...memoryStore(), close: async () => {} };
  const start = async (port: number): Promise<{ readonly server: TaskServer; readonly url: URL }> => {
    const server = await createTaskServer({
      name: "test",
      store: kept,
      adapters: { fake: { ...adapter, close: async () => {} } },
      tools: [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 50 } }],
      ...options(),
    });
    const { url } = await server.listen({ port });
    return { server, url: new URL(url) };
  };
  let current = await start(0);
  atEnd(() => current.server.close());
  const { url } = current;
  return {
    url: url.href,
    backend: () => backend,
    restart: async () => {
      await current.server.close();
      current = await start(Number(url.port));
    },
  };
};
