import { afterEach, describe, expect, test } from "@jest/globals";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import { type Answer, callForTask, rpcClient } from "../rpc-client.ts";
import { eventually, type Served, serve, stopAll } from "../serve.ts";
import { sep1686Rpc, wires } from "../tasks-sep1686/sep1686-session.ts";
import { type Outage, withOutages } from "./outage.ts";
import { passTimeUntil, whileTimePasses } from "./pass-time.ts";

afterEach(stopAll);

/** Whoever asks hears of the store, not of its address, and not that there is no such task. */
const unavailable = {
  code: 503,
  message: "the server cannot use its store of tasks at present; the tasks go on; try again later",
  data: { reason: "unavailable", retryAfterMs: 1_000 },
};

type Ask = () => Promise<Answer>;

/** Requests by what they are called, in an order in which all succeed. */
type Verbs = Readonly<Record<string, Ask>>;

interface Tasks {
  /** It runs, and asks a question. */
  readonly running: string;
  readonly key: string;
  /** It has succeeded. */
  readonly ended: string;
}

const answer = { action: "accept", content: { ok: true } };
const noTasks = { tasks: false, capabilities: { elicitation: {} } };

const verbs2026 = async ({ url }: Served, { running, key, ended }: Tasks): Promise<Verbs> => {
  const rpc = rpcClient(url);
  const companion = (name: string, taskId: string): Ask => {
    return () => rpc("tools/call", { name, arguments: { taskId } }, { tasks: false });
  };
  return {
    "tools/call": () => rpc("tools/call", { name: "job", arguments: {} }),
    "tools/call by a host without tasks": () => rpc("tools/call", { name: "job", arguments: {} }, noTasks),
    "tasks/get": () => rpc("tasks/get", { taskId: running }),
    "tasks/get, ended": () => rpc("tasks/get", { taskId: ended }),
    "resources/read": () => rpc("resources/read", { uri: `taskbridge://tasks/${ended}/result` }),
    task_status: companion("task_status", ended),
    task_result: companion("task_result", ended),
    "tasks/update": () => rpc("tasks/update", { taskId: running, inputResponses: { [key]: answer } }),
    "tasks/cancel": () => rpc("tasks/cancel", { taskId: running }),
    task_cancel: companion("task_cancel", running),
    // Ends with the task.
    "subscriptions/listen": () => rpc("subscriptions/listen", { notifications: { taskIds: [ended] } }),
  };
};

const coreVerbs = async ({ url }: Served, { running, ended }: Tasks): Promise<Verbs> => {
  const rpc = await rpc2025(url);
  return {
    "tools/call": () => rpc.request("tools/call", { name: "job", task: {} }),
    "tools/call by a host without tasks": () => rpc.request("tools/call", { name: "job" }),
    "tasks/get": () => rpc.request("tasks/get", { taskId: running }),
    "tasks/result": () => rpc.request("tasks/result", { taskId: ended }),
    "tasks/list": () => rpc.request("tasks/list"),
    "resources/read": () => rpc.request("resources/read", { uri: `taskbridge://tasks/${ended}/result` }),
    task_status: () => rpc.request("tools/call", { name: "task_status", arguments: { taskId: ended } }),
    "tasks/cancel": () => rpc.request("tasks/cancel", { taskId: running }),
  };
};

const sep1686Verbs = async ({ url, backend }: Served, { running, ended }: Tasks): Promise<Verbs> => {
  const rpc = await sep1686Rpc(url);
  const meta = { "modelcontextprotocol.io/task": { taskId: "mine" } };
  return {
    // Its answer comes with the end of the task.
    "tools/call": async () => {
      const starts = backend.starts();
      const call = rpc.request("tools/call", { name: "job", arguments: {}, _meta: meta });
      const started = eventually(() => backend.starts() > starts).then(() => backend.of().succeed({}));
      return Promise.race([call, started.then(() => call)]);
    },
    "tasks/get": () => rpc.request("tasks/get", { taskId: running }),
    "tasks/result": () => rpc.request("tasks/result", { taskId: ended }),
    "tasks/list": () => rpc.request("tasks/list"),
    "tasks/delete": () => rpc.request("tasks/delete", { taskId: running }),
  };
};

const set: Readonly<Record<string, (served: Served, tasks: Tasks) => Promise<Verbs>>> = {
  "2026-07-28": verbs2026,
  "2025-11-25": coreVerbs,
  "sep-1686": sep1686Verbs,
};

const begin = async (clock: FakeClock, outage: Outage): Promise<{ readonly served: Served; readonly tasks: Tasks }> => {
  const served = await serve({ store: outage.store, wires, waitMs: 0, clock, fake: { clock } });
  const { rpc, backend } = served;
  const ended = await callForTask(rpc);
  backend.of().succeed({ n: 1 });
  await passTimeUntil(clock, async () => (await rpc("tasks/get", { taskId: ended })).result.status === "completed");
  const running = await callForTask(rpc);
  backend.of().ask();
  let keys: string[] = [];
  await passTimeUntil(clock, async () => {
    const { result } = await rpc("tasks/get", { taskId: running }, noTasksAsked);
    keys = Object.keys((result.inputRequests as object | undefined) ?? {});
    return keys.length === 1;
  });
  return { served, tasks: { running, key: keys[0] ?? "", ended } };
};

const noTasksAsked = { capabilities: { elicitation: {} } };

describe.each(Object.keys(set))("on %s, while the store", (wire) => {
  test.each(["refuses", "hangs"] as const)("%s, every verb says so; then every one works", async (how) => {
    const clock = fakeClock();
    const outage = withOutages(clock);
    const { served, tasks } = await begin(clock, outage);
    const verbs = (await set[wire]?.(served, tasks)) ?? {};
    const starts = served.backend.starts();
    outage.begin(how);
    const asking = Object.entries(verbs).map(async ([name, ask]) => [name, (await ask()).error] as const);
    const errors = await whileTimePasses(clock, Promise.all(asking));
    expect(Object.fromEntries(errors)).toEqual(
      Object.fromEntries(Object.keys(verbs).map((name) => [name, unavailable])),
    );
    expect(served.backend.starts()).toBe(starts);
    outage.end();
    const none = { code: 0, message: "there is no error" };
    for (const [name, ask] of Object.entries(verbs)) {
      expect([name, (await whileTimePasses(clock, ask())).error]).toEqual([name, none]);
    }
    // What was refused has left nothing behind.
    await clock.advance(60_000);
    const { tasks: kept } = await served.server.engine.listTasks({ operator: true }, {}, undefined, 100);
    const deleted = "tasks/delete" in verbs ? 1 : 0;
    expect(kept).toHaveLength(served.backend.starts() - deleted);
  });
});

test("what needs no store is served meanwhile: sessions, tools and templates", async () => {
  const outage = withOutages();
  const { url, rpc } = await serve({ store: outage.store });
  outage.begin("refuses");
  const legacy = await rpc2025(url);
  for (const method of ["tools/list", "resources/templates/list"]) {
    expect((await rpc(method)).error.code).toBe(0);
    expect((await legacy.request(method)).error.code).toBe(0);
  }
});
