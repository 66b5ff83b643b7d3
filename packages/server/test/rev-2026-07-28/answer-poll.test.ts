import { afterEach, describe, expect, test } from "@jest/globals";
import { withOutages } from "../outage/outage.ts";
import { callForTask, type RequestOptions, toRequest, version } from "../rpc-client.ts";
import { type Served, serve, stopAll } from "../serve.ts";

afterEach(stopAll);

interface Reported {
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
}

interface Poll {
  readonly params?: Record<string, unknown>;
  readonly options?: RequestOptions;
  /** Undefined takes a header out. */
  readonly headers?: Record<string, string | undefined>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const toRequestInit = (taskId: string, { params = { taskId }, options, headers, body }: Poll) => ({
  method: "POST",
  headers: Object.entries({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": "tasks/get",
    "mcp-name": taskId,
    ...headers,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  body: body ?? JSON.stringify(toRequest("tasks/get", params, { id: 7, ...options })),
});

const read = async (response: Response): Promise<Reported> => {
  const text = await response.text();
  return { status: response.status, type: response.headers.get("content-type"), body: JSON.parse(text) };
};

/** The listener answers polls itself, and tells how long its answers are; a mounted server leaves all of them to the SDK. */
const poll = async ({ url, server }: Served, taskId: string, sent: Poll = {}) => {
  const answer = await fetch(url, toRequestInit(taskId, sent));
  const isDirect = answer.headers.has("content-length");
  const bySdk = await server.fetch(new Request(url, toRequestInit(taskId, sent)));
  return { reported: await read(answer), bySdk: await read(bySdk), isDirect };
};

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const form: Poll = { options: { capabilities: { elicitation: {} } } };

const states: readonly [status: string, make: (served: Served) => void, sent: Poll][] = [
  ["working", ({ backend }) => backend.of().progress({ done: 3, total: 10 }), {}],
  ["input_required", ({ backend }) => backend.of().ask({ message: "Sure?", schema: yes }), form],
  ["working", ({ backend }) => backend.of().ask({ message: "Sure?", schema: yes }), {}],
  ["completed", ({ backend }) => backend.of().succeed({ files: 14 }), {}],
  ["completed", ({ backend }) => backend.of().fail("exit code 2"), {}],
  ["failed", ({ backend }) => backend.of().fail({ kind: "protocol", reason: "lost", code: "lost" }), {}],
];

describe("a poll is answered as the SDK would answer it", () => {
  test.each(states)("of a task that is %s", async (status, make, sent) => {
    const served = await serve({ owners: "local" });
    const taskId = await callForTask(served.rpc);
    make(served);
    await served.backend.events.settled();
    const { reported, bySdk, isDirect } = await poll(served, taskId, sent);
    expect(reported).toEqual(bySdk);
    expect(reported).toMatchObject({ status: 200, body: { id: 7, result: { taskId, status } } });
    expect(isDirect).toBe(true);
  });

  test("of a task that nobody has", async () => {
    const { reported, bySdk, isDirect } = await poll(await serve({ owners: "local" }), "no-such-task");
    expect(reported).toEqual(bySdk);
    expect(reported).toMatchObject({ status: 200, body: { id: 7, error: { code: -32_602 } } });
    expect(isDirect).toBe(true);
  });

  test("while the store is away", async () => {
    const outage = withOutages();
    const served = await serve({ owners: "local", store: outage.store });
    const taskId = await callForTask(served.rpc);
    outage.begin("refuses", ["read"]);
    const { reported, bySdk, isDirect } = await poll(served, taskId);
    outage.end();
    expect(reported).toEqual(bySdk);
    expect(reported).toMatchObject({ body: { error: { code: 503, data: { reason: "unavailable" } } } });
    expect(isDirect).toBe(true);
  });

  test("whatever JSON-RPC takes for an ID", async () => {
    const served = await serve({ owners: "local" });
    const taskId = await callForTask(served.rpc);
    for (const id of ["", "seven", 0, -1]) {
      const { reported, bySdk, isDirect } = await poll(served, taskId, { options: { id } });
      expect(reported).toEqual(bySdk);
      expect(reported.body).toMatchObject({ id, result: { taskId } });
      expect(isDirect).toBe(true);
    }
  });
});

const encode = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const withId = (id: unknown) => JSON.stringify({ ...toRequest("tasks/get", { taskId: "x" }), id });
const meta = (key: string, value: unknown): Poll => ({
  options: { meta: { [`io.modelcontextprotocol/${key}`]: value } },
});

/** Each with the status it is answered with. The task is called `x` where it is not there. */
const oddities: readonly [what: string, status: number, sent: (taskId: string) => Poll][] = [
  ["of a client without tasks", 400, () => ({ options: { tasks: false } })],
  ["without its name in a header", 400, () => ({ headers: { "mcp-name": undefined } })],
  ["of another name than its header", 400, () => ({ headers: { "mcp-name": "x" } })],
  ["whose name is encoded", 200, (taskId) => ({ headers: { "mcp-name": encode(taskId) } })],
  ["without a method in a header", 400, () => ({ headers: { "mcp-method": undefined } })],
  ["of another method than its header", 400, () => ({ headers: { "mcp-method": "tasks/cancel" } })],
  ["without a version in a header", 400, () => ({ headers: { "mcp-protocol-version": undefined } })],
  ["of a version to come", 400, () => meta("protocolVersion", "2027-01-01")],
  ["of an older version than its header", 400, () => meta("protocolVersion", "2025-11-25")],
  ["without a version that is text", 400, () => meta("protocolVersion", 7)],
  ["of a client without capabilities", 400, () => meta("clientCapabilities", undefined)],
  ["of capabilities that are none", 400, () => meta("clientCapabilities", [])],
  ["whose client has no name", 400, () => meta("clientInfo", { version: "1" })],
  ["with parameters of a call that is repeated", 200, (taskId) => ({ params: { taskId, requestState: "s" } })],
  ["with an unknown parameter", 200, (taskId) => ({ params: { taskId, depth: 1 } })],
  ["without a task", 200, () => ({ params: {} })],
  ["of a task that is a number", 200, () => ({ params: { taskId: 7 } })],
  [
    "without an envelope",
    400,
    () => ({ body: '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x"}}' }),
  ],
  ["with the ID null", 400, () => ({ body: withId(null) })],
  ["with a fraction for an ID", 400, () => ({ body: withId(1.5) })],
  ["of JSON-RPC 1", 400, () => ({ body: '{"id":1,"method":"tasks/get","params":{"taskId":"x"}}' })],
  ["in a batch", 400, () => ({ body: `[${withId(1)}]` })],
  ["that is cut off", 400, () => ({ body: '{"jsonrpc":"2.0","id":1,' })],
  ["that is a word", 400, () => ({ body: "null" })],
  ["as a form", 415, () => ({ headers: { "content-type": "application/x-www-form-urlencoded" } })],
];

describe("the SDK is asked about a request", () => {
  test.each(oddities)("%s", async (_what, status, sent) => {
    const served = await serve({ owners: "local" });
    const taskId = await callForTask(served.rpc);
    const { reported, bySdk, isDirect } = await poll(served, taskId, sent(taskId));
    expect(reported).toEqual(bySdk);
    expect(reported.status).toBe(status);
    expect(isDirect).toBe(false);
  });

  test("where the wire of 2026-07-28 is not served", async () => {
    const served = await serve({ owners: "local", wires: ["2025-11-25", "none"] });
    const { reported, bySdk, isDirect } = await poll(served, "x");
    expect(reported).toEqual(bySdk);
    expect(reported.body).toHaveProperty("error");
    expect(isDirect).toBe(false);
  });
});
