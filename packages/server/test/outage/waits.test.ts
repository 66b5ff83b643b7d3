import { afterEach, describe, expect, test } from "@jest/globals";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import { listen } from "../listen-client.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { type Answer, callForTask } from "../rpc-client.ts";
import { type Served, serve, stopAll } from "../serve.ts";
import { sep1686Rpc, wires } from "../tasks-sep1686/sep1686-session.ts";
import { type Outage, withOutages } from "./outage.ts";
import { passTimeUntil, whileTimePasses } from "./pass-time.ts";

afterEach(stopAll);

interface UnavailableServed extends Served {
  readonly outage: Outage;
  readonly clock: FakeClock;
}

const serveUnavailable = async (waitMs = 40_000): Promise<UnavailableServed> => {
  const clock = fakeClock();
  const outage = withOutages(clock);
  const served = await serve({
    store: outage.store,
    wires,
    waitMs,
    tools: [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 100 } }],
    clock,
    fake: { clock },
  });
  return { ...served, outage, clock };
};

/** Until each task is looked at again and again, which is what those who wait for it do. */
const areWaitedFor = async ({ backend, clock }: UnavailableServed, count: number): Promise<void> => {
  const inspections = (key: string): number =>
    backend.callsOf("inspect").filter(({ keys }) => keys.includes(key)).length;
  await passTimeUntil(clock, () => backend.executions.length === count);
  const before = backend.executions.map(({ key }) => inspections(key));
  await passTimeUntil(clock, () =>
    backend.executions.every(({ key }, index) => inspections(key) >= (before[index] ?? 0) + 3),
  );
};

/** Longer than any wait goes without a look at the store. */
const downMs = 20_000;

const becomeUnavailable = async (
  { outage, clock }: UnavailableServed,
  how: "refuses" | "hangs",
  change: () => void,
): Promise<void> => {
  outage.begin(how);
  change();
  for (let passedMs = 0; passedMs < downMs; passedMs += 500) await clock.advance(500);
  expect(outage.refused).toBeGreaterThan(1);
  outage.end();
};

const output = { type: "text", text: '{"n":1}' };

type Wait = (served: UnavailableServed) => Promise<{ readonly answer: Promise<Pick<Answer, "result" | "error">> }>;

/** Each begins to wait for the one task of the server. */
const waits: Readonly<Record<string, Wait>> = {
  "tasks/result of 2025-11-25": async ({ url }) => {
    const rpc = await rpc2025(url);
    const { result } = await rpc.request("tools/call", { name: "job", task: {} });
    const { taskId } = result.task as { taskId: string };
    return { answer: rpc.request("tasks/result", { taskId }) };
  },
  "a call of a host without tasks": async ({ rpc }) => ({
    answer: rpc("tools/call", { name: "job", arguments: {} }, { tasks: false }),
  }),
  "a call of a session without tasks": async ({ url }) => {
    const rpc = await rpc2025(url);
    return { answer: rpc.request("tools/call", { name: "job", arguments: {} }) };
  },
  task_status: async ({ rpc }) => {
    const taskId = await callForTask(rpc);
    const waiting = { name: "task_status", arguments: { taskId, waitSeconds: 40 } };
    return { answer: rpc("tools/call", waiting, { tasks: false }) };
  },
  "a call of SEP-1686": async ({ url }) => {
    const rpc = await sep1686Rpc(url);
    const meta = { "modelcontextprotocol.io/task": { taskId: "mine" } };
    return { answer: rpc.request("tools/call", { name: "job", arguments: {}, _meta: meta }) };
  },
};

test.each(["refuses", "hangs"] as const)("who waits gets the result although the store %s meanwhile", async (how) => {
  const served = await serveUnavailable();
  const answers: [string, Promise<Pick<Answer, "result" | "error">>][] = [];
  for (const [kind, begin] of Object.entries(waits)) answers.push([kind, (await begin(served)).answer]);
  await areWaitedFor(served, answers.length);
  await becomeUnavailable(served, how, () => {
    for (const execution of served.backend.executions) execution.succeed({ n: 1 });
  });
  const all = Promise.all(answers.map(async ([kind, answer]) => [kind, (await answer).result.content]));
  const reported = await whileTimePasses(served.clock, all);
  expect(reported).toEqual(answers.map(([kind]) => [kind, expect.arrayContaining([output])]));
});

test("a call whose time is over while the store is away gets a handle: the task goes on", async () => {
  const served = await serveUnavailable(10_000);
  const { rpc, clock, backend } = served;
  const call = rpc("tools/call", { name: "job", arguments: {} }, { tasks: false });
  await areWaitedFor(served, 1);
  await becomeUnavailable(served, "refuses", () => {});
  const { taskId } = (await call).result.structuredContent as { taskId: string };
  backend.of().succeed({ n: 1 });
  await clock.advance(10_000);
  const { result } = await rpc("tools/call", { name: "task_status", arguments: { taskId } }, { tasks: false });
  expect(result.content).toContainEqual(output);
});

describe("a client that is told of changes", () => {
  test.each(["refuses", "hangs"] as const)("by a subscription hears the end after a store that %s", async (how) => {
    const served = await serveUnavailable();
    const { url, rpc, backend, clock } = served;
    const taskId = await callForTask(rpc);
    const subscription = await listen(url, { taskIds: [taskId] });
    for (const _frame of ["acknowledged", "state"]) await subscription.next();
    await areWaitedFor(served, 1);
    await becomeUnavailable(served, how, () => backend.of().succeed({ n: 1 }));
    await clock.advance(15_000);
    expect((await subscription.next())?.params).toMatchObject({ status: "completed" });
  });

  test("on its session's own stream is asked what the task asks, and its answer is not lost", async () => {
    const served = await serveUnavailable();
    const { url, backend, outage, clock } = served;
    const rpc = await rpc2025(url, { capabilities: { elicitation: {} } });
    const own = await rpc.listen();
    await rpc.request("tools/call", { name: "job", task: {} });
    await areWaitedFor(served, 1);
    await becomeUnavailable(served, "refuses", () => void backend.of().ask());
    await clock.advance(15_000);
    const { id } = await own.find(({ method }) => method === "elicitation/create");
    outage.begin("refuses");
    await rpc.send({ id, result: { action: "accept", content: { ok: true } } });
    await passTimeUntil(clock, () => outage.refused > 3);
    outage.end();
    await passTimeUntil(clock, () => backend.of().answers.length === 1);
  });

  test("is asked once the store is back that was away when it was its turn", async () => {
    const served = await serveUnavailable();
    const { url, backend, outage, clock } = served;
    const rpc = await rpc2025(url, { capabilities: { elicitation: {} } });
    const { result } = await rpc.request("tools/call", { name: "job", task: {} });
    const { taskId } = result.task as { taskId: string };
    backend.of().ask();
    await passTimeUntil(
      clock,
      async () => (await rpc.request("tasks/get", { taskId })).result.status === "input_required",
    );
    outage.begin("refuses", ["revise"]);
    const own = await rpc.listen();
    await passTimeUntil(clock, () => outage.refused > 0);
    await becomeUnavailable(served, "refuses", () => {});
    await clock.advance(15_000);
    await own.find(({ method }) => method === "elicitation/create");
  });
});
