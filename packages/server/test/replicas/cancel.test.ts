import { afterEach, describe, expect, test } from "@jest/globals";
import type { WireName } from "../../src/index.ts";
import { form, job, yes } from "../rev-2025/task-calls.ts";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime } from "../serve.ts";
import { type FleetOptions, startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

const wires: readonly WireName[] = ["2025-11-25", "sep-1686", "none"];
const sep1686Task = (taskId: string): object => ({ _meta: { "modelcontextprotocol.io/task": { taskId } } });

const open = async (options: FleetOptions = {}, revision = "2025-06-18") => {
  const fleet = await startFleet(2, { wires, waitMs: 30_000, tools: [job], ...options });
  const [a, b] = fleet.replicas as [(typeof fleet.replicas)[0], (typeof fleet.replicas)[0]];
  const atA = await rpc2025(a.url, { revision, capabilities: form });
  return { ...fleet, a, b, atA, atB: atA.at(b.url) };
};

const cancel = async (rpc: Rpc2025, requestId: string | number, reason?: string): Promise<void> => {
  const params = { requestId, ...(reason === undefined ? {} : { reason }) };
  expect(await rpc.send({ method: "notifications/cancelled", params })).toBe(202);
};
/** What was sent before is done when a later request is answered after a stop would wait for it. */
const statusOf = async (rpc: Rpc2025, taskId: string): Promise<unknown> =>
  (await rpc.request("tasks/get", { taskId, ...sep1686Task(taskId) })).result.status;

describe("a call of the SEP-1686 draft that another replica has taken in", () => {
  test("is cancelled by its request ID", async () => {
    const { atA, atB, backend } = await open();
    const call = await atA.open("tools/call", { name: "job", ...sep1686Task("c-1") }, { id: "call" });
    await eventually(async () => (await statusOf(atB, "c-1")) === "working");
    await cancel(atB, "call");
    await eventually(async () => (await statusOf(atA, "c-1")) === "cancelled");
    await inTime(call.ended);
    await eventually(() => backend.of().cancels.length === 1);
  });

  test("and that is gone since, likewise", async () => {
    const { a, stop, atA, atB, backend } = await open();
    await atA.open("tools/call", { name: "job", ...sep1686Task("c-1") }, { id: 7 });
    await eventually(async () => (await statusOf(atB, "c-1")) === "working");
    await inTime(stop(a));
    await cancel(atB, 7);
    await eventually(async () => (await statusOf(atB, "c-1")) === "cancelled");
    await eventually(() => backend.of().cancels.length === 1);
  });

  test.each([
    ["another request", "other", undefined],
    ["a number that reads the same", 7, undefined],
    ["what the client's own timeout says", "7", "McpError: MCP error -32001: Request timed out"],
  ])("goes on after %s", async (_what, requestId, reason) => {
    const { atA, atB, b, backend } = await open();
    await atA.open("tools/call", { name: "job", ...sep1686Task("c-1") }, { id: "7" });
    await eventually(async () => (await statusOf(atB, "c-1")) === "working");
    await cancel(atB, requestId, reason);
    const stranger = await rpc2025(b.url, { revision: "2025-06-18" });
    await cancel(stranger, "7");
    // A stop waits for what was begun.
    await inTime(b.server.close());
    expect(await statusOf(atA, "c-1")).toBe("working");
    expect(backend.of().cancels).toEqual([]);
  });
});

describe("a call of a host without tasks that another replica has taken in", () => {
  const openCalled = async (options: FleetOptions = {}) => {
    const fleet = await open(options, "2025-11-25");
    const call = await fleet.atA.open("tools/call", { name: "job", arguments: {} }, { id: "call" });
    await eventually(() => fleet.backend.starts() === 1);
    return { ...fleet, call };
  };

  test("is stopped with its execution while it waits", async () => {
    const { atB, backend } = await openCalled();
    await cancel(atB, "call");
    await eventually(() => backend.of().cancels.length === 1);
  });

  test("is stopped as well while its user is asked", async () => {
    const { atB, backend, call } = await openCalled();
    backend.of().ask({ message: "Sure?", schema: yes });
    await call.find(({ method }) => method === "elicitation/create");
    await cancel(atB, "call");
    await eventually(() => backend.of().cancels.length === 1);
  });

  test("is left alone once it was answered with a handle", async () => {
    const { a, b, atB, backend, call } = await openCalled({ waitMs: 300 });
    await inTime(call.ended);
    await cancel(atB, "call");
    await inTime(b.server.close());
    const { tasks } = await a.server.engine.listTasks({ operator: true }, {}, undefined, 10);
    expect(tasks.map(({ record }) => record.state)).toEqual(["running"]);
    expect(backend.of().cancels).toEqual([]);
  });
});

test("a call that has asked for a task of 2025-11-25 is not taken back once it has its handle", async () => {
  const { a, b, atA, atB, backend } = await open({}, "2025-11-25");
  await atA.request("tools/call", { name: "job", arguments: {}, task: {} }, { id: "call" });
  await cancel(atB, "call");
  await inTime(b.server.close());
  const { tasks } = await a.server.engine.listTasks({ operator: true }, {}, undefined, 10);
  expect(tasks.map(({ record }) => record.state)).toEqual(["running"]);
  expect(backend.of().cancels).toEqual([]);
});
