// Started as a process of its own: serves one tool from the built packages, sends requests to it over HTTP on each wire, and
// writes to stdout how many functions of ours one request enters once it is warm, as JSON: `TracedRequest[]`.
import { Session } from "node:inspector/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../workspace/run.mjs";

/** @typedef {{ readonly wire: string, readonly request: string, readonly functions: number, readonly files: number }} TracedRequest */
/** @typedef {(method: string, params: Record<string, unknown>) => Promise<any>} Client Resolves with the first message. */

const warmUps = 20;
/** Work in the background falls into some of these, so only functions that each of them enters are counted. */
const measurements = 5;
const ours = new RegExp(`^${pathToFileURL(root)}/(packages|adapters)/[^/]+/dist/`);

const requireFrom = createRequire(join(root, "packages/cli/package.json"));
/** @param {string} name */
const load = (name) => import(pathToFileURL(requireFrom.resolve(name)).href);
const { createTaskServer } = await load("@taskbridge/server");
const { memoryStore } = await load("@taskbridge/core/memory");

/** Executions that never end, and are as good as new for an hour. No part of the figures, so it is none of our adapters. */
const adapter = {
  contract: 1,
  kind: "figures",
  traits: {
    start: { kind: "idempotent", forMs: null },
    cancel: "confirmed",
    minInspectIntervalMs: 3_600_000,
    mustInspectWithinMs: null,
    inspectBatch: 100,
    maxPayloadBytes: null,
    retentionMs: null,
    hostBound: false,
    questions: "none",
    progress: "none",
  },
  parseTarget: (/** @type {unknown} */ target) => target,
  start: async (/** @type {{ key: string }} */ { key }) => ({ ref: key, snapshot: { status: "running" } }),
  inspect: async (/** @type {unknown[]} */ items) => items.map(() => ({ snapshot: { status: "running" } })),
  cancel: async () => {},
};

const server = await createTaskServer({
  name: "figures",
  store: memoryStore(),
  adapters: { figures: adapter },
  tools: [{ name: "job", adapter: "figures", target: {} }],
  wires: ["2026-07-28", "2025-11-25", "sep-1686", "none"],
  limits: { maxConcurrentTasksPerOwner: 1_000 },
});
const { url } = await server.listen({ port: 0 });
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** @type {TracedRequest[]} */
const traced = [];
for (const { wire, client, create } of await wires()) {
  const call = () => create(client);
  const taskId = await call();
  const get = () => client("tasks/get", { taskId });
  traced.push({ wire, request: "tasks/get", ...(await trace(get)) });
  traced.push({ wire, request: "tools/call", ...(await trace(call)) });
}
process.stdout.write(JSON.stringify(traced), () => process.exit());

/** @param {() => Promise<unknown>} request */
async function trace(request) {
  for (let count = 0; count < warmUps; count++) await request();
  /** @type {Set<string> | undefined} */
  let always;
  for (let count = 0; count < measurements; count++) {
    await inspector.post("Profiler.takePreciseCoverage");
    await request();
    const entered = await enteredFunctions();
    always = always === undefined ? entered : new Set([...always].filter((location) => entered.has(location)));
  }
  const files = new Set([...(always ?? [])].map((location) => location.slice(0, location.lastIndexOf(":"))));
  return { functions: always?.size ?? 0, files: files.size };
}

/** @returns {Promise<Set<string>>} Where those functions of ours begin that were entered since the last time. */
async function enteredFunctions() {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  return new Set(
    result
      .filter(({ url: script }) => ours.test(script))
      .flatMap(({ url: script, functions }) =>
        functions.flatMap(({ ranges: [range] }) =>
          range !== undefined && range.count > 0 ? [`${script}:${range.startOffset}`] : [],
        ),
      ),
  );
}

/** One client of each wire, and how it makes a task. */
async function wires() {
  const draftClient = await sessionClient("2025-06-18");
  let draftTasks = 0;
  return [
    {
      wire: "2026-07-28",
      client: statelessClient(),
      create: async (/** @type {Client} */ client) =>
        required((await client("tools/call", { name: "job", arguments: {} })).result?.taskId),
    },
    {
      wire: "2025-11-25",
      client: await sessionClient("2025-11-25"),
      create: async (/** @type {Client} */ client) =>
        required((await client("tools/call", { name: "job", arguments: {}, task: {} })).result?.task?.taskId),
    },
    {
      wire: "sep-1686",
      client: draftClient,
      create: async (/** @type {Client} */ client) => {
        const taskId = `figures-${++draftTasks}`;
        const _meta = { "modelcontextprotocol.io/task": { taskId } };
        const notice = await client("tools/call", { name: "job", arguments: {}, _meta });
        return required(notice.method === "notifications/tasks/created" ? taskId : undefined);
      },
    },
  ];
}

/**
 * @param {string | undefined} taskId
 * @returns {string}
 */
function required(taskId) {
  if (taskId === undefined) throw new Error("the call has made no task");
  return taskId;
}

/** @returns {Client} */
function statelessClient() {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "figures", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  return async (method, params) => {
    const name = String(params.name ?? params.taskId);
    const headers = { "mcp-protocol-version": version, "mcp-method": method, "mcp-name": name };
    return (await send({ id: 1, method, params: { ...params, _meta } }, headers)).message;
  };
}

/**
 * @param {string} revision
 * @returns {Promise<Client>}
 */
async function sessionClient(revision) {
  const clientInfo = { name: "figures", version: "1" };
  const opening = { protocolVersion: revision, capabilities: {}, clientInfo };
  const { sessionId } = await send({ id: 0, method: "initialize", params: opening });
  const headers = { "mcp-session-id": sessionId ?? "", "mcp-protocol-version": revision };
  await send({ method: "notifications/initialized" }, headers);
  let id = 0;
  return async (method, params) => (await send({ id: ++id, method, params }, headers)).message;
}

/**
 * @param {object} request
 * @param {Record<string, string>} [headers]
 * @returns {Promise<{ message: any, sessionId: string | null }>} The first message of the answer; the rest is not waited for.
 */
async function send(request, headers = {}) {
  const leaving = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...request }),
    signal: leaving.signal,
  });
  const sessionId = response.headers.get("mcp-session-id");
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const data = response.headers.get("content-type")?.startsWith("text/event-stream")
      ? /^data: ?(\{.*\})$/m.exec(text)?.[1]
      : undefined;
    if (data === undefined) continue;
    const message = JSON.parse(data);
    if (message.error !== undefined) throw new Error(`${JSON.stringify(request)}: ${data}`);
    leaving.abort();
    return { message, sessionId };
  }
  const message = text === "" ? undefined : JSON.parse(text);
  if (message?.error !== undefined) throw new Error(`${JSON.stringify(request)}: ${text}`);
  return { message, sessionId };
}
