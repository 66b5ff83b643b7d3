/**
 * A host that follows what the answers say, as a model would, through a pipeline of three minutes. `npm run soak` also does
 * so in real time.
 */
import { afterEach, describe, expect, test } from "@jest/globals";
import { Client as SecondClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { fetchHere } from "../fetch-here.ts";
import { type Served, type ServeOptions, serve, stopAll } from "../serve.ts";
import { endOf, onClock, textOf } from "./hosts.ts";

afterEach(stopAll);

const output = {
  type: "object",
  properties: { files: { type: "integer" } },
  required: ["files"],
  additionalProperties: false,
};
const options: ServeOptions = {
  waitMs: 30_000,
  tools: [{ name: "job", adapter: "fake", target: { run: "job" }, output }],
};
const pipelineMs = 180_000;
/** As long as many hosts wait for any call. */
const limitMs = 60_000;
const clientInfo = { name: "host", version: "1" };

type Call = (name: string, args: Record<string, unknown>) => Promise<{ result: Record<string, unknown> }>;

interface OpenClient {
  readonly call: Call;
  close(): Promise<void>;
}

/** Clients that know of no tasks, check results against the output schema, and give a request up after a minute. */
const clients: Readonly<Record<string, (url: string) => Promise<OpenClient>>> = {
  "SDK 1": async (url) => {
    const client = new FirstClient(clientInfo);
    await client.connect(new FirstHttpTransport(new URL(url), { fetch: fetchHere }) as never);
    await client.listTools();
    const call: Call = async (name, args) => ({
      result: await client.callTool({ name, arguments: args }, undefined, { timeout: limitMs }),
    });
    return { call, close: () => client.close() };
  },
  "SDK 2": async (url) => {
    const client = new SecondClient(clientInfo, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: fetchHere }));
    await client.listTools();
    const call: Call = async (name, args) => ({
      result: await client.callTool({ name, arguments: args }, { timeout: limitMs }),
    });
    return { call, close: () => client.close() };
  },
};

interface Followed {
  readonly last: { readonly result: Record<string, unknown> };
  readonly calls: number;
  /** Of the call that took longest (milliseconds). */
  readonly maxMs: number;
}

/** Does what each answer says next until one says nothing. */
const follow = async (call: Call, now: () => number): Promise<Followed> => {
  let next: { name: string; args: Record<string, unknown> } | undefined = { name: "job", args: {} };
  let last: Followed["last"] = { result: {} };
  let maxMs = 0;
  let calls = 0;
  while (next !== undefined && calls < 20) {
    const began = now();
    last = await call(next.name, next.args);
    calls++;
    maxMs = Math.max(maxMs, now() - began);
    const advice = /call (task_\w+) with taskId (\w+) and waitSeconds (\d+)\.$/.exec(textOf(last));
    next =
      advice === null
        ? undefined
        : { name: advice[1] ?? "", args: { taskId: advice[2], waitSeconds: Number(advice[3]) } };
  }
  return { last, calls, maxMs };
};

const expectResult = ({ last, calls, maxMs }: Followed, { backend }: Pick<Served, "backend">): void => {
  expect(last.result.structuredContent).toEqual({ files: 14 });
  expect(textOf(last)).toMatch(/^Task \w+ of job has completed\.\n/);
  expect([calls, backend.starts()]).toEqual([6, 1]);
  expect(maxMs).toBeLessThan(45_000);
};

describe.each(Object.entries(clients))("an untasked client of %s with a 60 s limit", (_sdk, open) => {
  test("case 22, case 24: runs a 3-minute pipeline with an output schema to its result through companions", async () => {
    const { clock, options: clocked } = onClock(options);
    const served = await serve(clocked);
    const { call, close } = await open(served.url);
    try {
      clock.schedule(pipelineMs - 5_000, () => served.backend.of().succeed({ files: 14 }));
      expectResult(await endOf(clock, follow(call, clock.now)), served);
    } finally {
      await close();
    }
  });

  const isLong = process.env.TASKBRIDGE_LONG_PIPELINE !== undefined;
  (isLong ? test : test.skip)(
    "does so in real time",
    async () => {
      const served = await serve(options);
      const { call, close } = await open(served.url);
      try {
        setTimeout(() => served.backend.of().succeed({ files: 14 }), pipelineMs - 5_000);
        expectResult(await follow(call, Date.now), served);
      } finally {
        await close();
      }
    },
    240_000,
  );
});
