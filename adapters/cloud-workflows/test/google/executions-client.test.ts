import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { isBridgeError } from "@taskbridge/core/adapter";
import { executionsClient } from "../../src/google/executions-client.ts";
import { type Fake, startFake } from "../fake/fake.ts";
import { localClient } from "../fake/local-client.ts";
import { runsOn } from "../fake/script.ts";

let fake: Fake;
let workflow: string;
beforeEach(async () => {
  fake = await startFake();
  workflow = fake.workflow("publish", runsOn);
});
afterEach(() => fake.close());

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const connection = { project: "demo", keyFile: undefined, credentials: undefined, client: undefined };
const signal = new AbortController().signal;
const open = (endpoint: string = fake.endpoint) => executionsClient({ ...connection, endpoint: new URL(endpoint) });

const reported = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isBridgeError(error)) throw new Error(`no BridgeError: ${String(error)}`);
  return { code: error.code, notSent: error.notSent, message: error.message, data: error.data };
};

test("tells an execution with its times in milliseconds", async () => {
  const client = open();
  const { name } = await client.create(workflow, { argument: '{"a":1}', labels: { mcp_run: "k" } }, signal);
  const found = await client.get(name, signal);
  expect(found).toMatchObject({
    state: "ACTIVE",
    labels: { mcp_run: "k" },
    steps: [{ routine: "main", step: "work" }],
    startedAt: fake.execution(name).startedAt,
  });
  expect(found).not.toHaveProperty("result");
  expect(found).not.toHaveProperty("error");
  client.close();
});

test("reads page by page, as told", async () => {
  const client = open();
  fake.populate(workflow, 120);
  const first = await client.list(workflow, { view: "FULL", size: 1_000, filter: 'state="ACTIVE"' }, signal);
  expect(first.rows).toHaveLength(100);
  const page = { view: "FULL", size: 1_000, filter: 'state="ACTIVE"', token: first.next ?? "" } as const;
  const second = await client.list(workflow, page, signal);
  expect(second.rows).toHaveLength(20);
  expect(second).not.toHaveProperty("next");
  expect(fake.journal.count("listExecutions").asked).toBe(2);
});

describe("a start", () => {
  const start = (endpoint?: string, given = signal) =>
    open(endpoint).create(workflow, { argument: "{}", labels: {} }, given);

  test("has certainly not been sent when nobody listens there", async () => {
    const gone = await startFake();
    await gone.close();
    const { code, notSent, message } = await reported(start(gone.endpoint));
    expect({ code, notSent }).toEqual({ code: "unavailable", notSent: true });
    expect(message).toContain("ECONNREFUSED");
  });

  test("may have been sent when it was given up before an answer came", async () => {
    fake.setFaults({ on: { createExecution: { kind: "hang", isAccepted: true } } });
    const giveUp = new AbortController();
    const started = reported(start(undefined, giveUp.signal));
    while (fake.journal.starts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    giveUp.abort();
    expect(await started).toMatchObject({ code: "outcome_unknown", notSent: false });
  });

  test("is not sent by a signal that has fired", async () => {
    expect(await reported(start(undefined, AbortSignal.abort()))).toMatchObject({ code: "unavailable", notSent: true });
    expect(fake.journal.calls).toHaveLength(0);
  });
});

describe("requests", () => {
  test("are not sent on to where a redirect points", async () => {
    let redirected = 0;
    const elsewhere = createServer((_request, response) => {
      redirected += 1;
      response.end("{}");
    });
    const gateway = createServer((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${portOf(elsewhere)}/login` }).end();
    });
    for (const server of [elsewhere, gateway]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    const client = open(`http://127.0.0.1:${portOf(gateway)}`);
    try {
      expect(await reported(client.create(workflow, { argument: "{}", labels: {} }, signal))).toMatchObject({
        code: "outcome_unknown",
      });
      expect(await reported(client.callbacks(`${workflow}/executions/e`, signal))).toMatchObject({
        code: "unavailable",
      });
      expect(redirected).toBe(0);
    } finally {
      for (const server of [elsewhere, gateway]) {
        server.close();
        server.closeAllConnections();
      }
    }
  });

  test("that hang are given up when the client is closed, so that the process can end", async () => {
    const client = open();
    const asked = new Promise<void>((resolve) => {
      fake.setFaults({
        on: {
          getExecution: () => {
            resolve();
            return { kind: "hang", isAccepted: false };
          },
        },
      });
    });
    const call = reported(client.get(`${workflow}/executions/e`, signal));
    await asked;
    client.close();
    expect(await call).toMatchObject({ code: "unavailable" });
  });
});

describe("credentials", () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => {
    unhandled.push(error);
  };
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(() => {
    process.off("unhandledRejection", note);
  });

  test("whose file is not there are named, and nothing is left to break the process", async () => {
    const client = executionsClient({ ...connection, endpoint: undefined, keyFile: "/nonexistent/key.json" });
    for (const _ of [1, 2])
      expect(await reported(client.get(`${workflow}/executions/e`, signal))).toMatchObject({
        code: "misconfigured",
        notSent: true,
        data: { path: "keyFile" },
      });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test("of a client that was made with an `authClient` are used", async () => {
    const given = await localClient(fake.port);
    const { getRequestHeaders, fetch: send } = given.auth;
    await given.initialize();
    given.auth = { getRequestHeaders, fetch: send } as typeof given.auth;
    const client = executionsClient({ ...connection, endpoint: new URL(fake.endpoint), client: given });
    const [name = ""] = fake.populate(workflow, 1);
    expect((await client.get(name, signal)).state).toBe("ACTIVE");
    await given.close();
  });

  test("that cannot be exchanged for a token fail the call, not the ones after it", async () => {
    // A client of the caller's, whose token is refused once.
    let tokens = 0;
    const given = await localClient(fake.port);
    const { auth } = given;
    given.auth = Object.create(auth);
    given.auth.getRequestHeaders = async (...request) => {
      if (++tokens === 1) throw Object.assign(new Error("invalid_grant"), { code: "400" });
      return auth.getRequestHeaders(...request);
    };
    const client = executionsClient({ ...connection, endpoint: new URL(fake.endpoint), client: given });
    const [name = ""] = fake.populate(workflow, 1);
    expect(await reported(client.get(name, signal))).toMatchObject({ code: "unavailable", notSent: true });
    expect((await client.get(name, signal)).state).toBe("ACTIVE");
    client.close();
    // It stays its owner's.
    await given.getExecution({ name });
    await given.close();
  });
});

describe("Google's own authentication, over its own HTTP client", () => {
  const openReal = async () => {
    const { ExecutionsClient } = await import("@google-cloud/workflows");
    const { port } = fake;
    const given = new ExecutionsClient({
      fallback: true,
      protocol: "http",
      apiEndpoint: "127.0.0.1",
      port,
      apiKey: "k",
      projectId: "demo",
    });
    return executionsClient({ ...connection, endpoint: new URL(fake.endpoint), client: given });
  };

  test("reads, and tells what is refused as the local one does", async () => {
    const client = await openReal();
    const [name = ""] = fake.populate(workflow, 1);
    expect((await client.get(name, signal)).state).toBe("ACTIVE");
    expect(await client.callbacks(name, signal)).toEqual([]);
    fake.setFaults({ on: { getExecution: { kind: "error", code: "RESOURCE_EXHAUSTED", retryAfterS: 5 } } });
    await expect(client.get(name, signal)).rejects.toMatchObject({ code: "throttled", retryAfterMs: 5_000 });
    fake.setFaults({ denies: ["workflows.callbacks.list"] });
    await expect(client.callbacks(name, signal)).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("workflows.callbacks.list"),
    });
    fake.setFaults({ on: { getExecution: { kind: "html", status: 502 } } });
    await expect(client.get(name, signal)).rejects.toMatchObject({ code: "unavailable", notSent: false });
  });

  test.each([
    [{ kind: "lost" }, 1],
    [{ kind: "cut" }, 0],
    [{ kind: "error-after", code: "UNAVAILABLE" }, 1],
  ] as const)("sends a start once: %j", async (fault, made) => {
    const client = await openReal();
    fake.setFaults({ on: { createExecution: fault } });
    const started = client.create(workflow, { argument: "{}", labels: {} }, signal);
    await expect(started).rejects.toMatchObject({ code: "outcome_unknown", notSent: false });
    expect(fake.journal.count("createExecution").asked).toBe(1);
    expect(fake.journal.starts).toHaveLength(made);
  });
});
