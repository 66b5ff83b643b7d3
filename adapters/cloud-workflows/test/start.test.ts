import { describe, expect, test } from "@jest/globals";
import { isBridgeError } from "@taskbridge/core/adapter";
import type { Execution, Page } from "../src/google/client.ts";
import { tokenBucket } from "../src/google/token-bucket.ts";
import { findExecution } from "../src/start.ts";
import type { AdapterOnFake } from "./adapter-on-fake.ts";
import { callContext, newKey } from "./call-context.ts";
import { runsOn, step } from "./fake/script.ts";
import { openedAdapter } from "./opened-adapter.ts";

const errorOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isBridgeError(error)) throw new Error(`no BridgeError: ${String(error)}`);
  const { code, message, notSent, retryAfterMs, data } = error;
  return { code, message, notSent, retryAfterMs, data };
};

const request = (workflow: string, { adapter }: AdapterOnFake, more: object = {}) => ({
  key: newKey(),
  target: adapter.parseTarget({ workflow }),
  input: "{}",
  attempt: 1,
  ...more,
});

test("sends the very bytes of the input, and the key beside the target's labels", async () => {
  const { fake, adapter } = await openedAdapter();
  const workflow = fake.workflow("publish", runsOn);
  const key = newKey();
  const input = '{"big": 12345678901234567890, "b" :1}';
  const target = adapter.parseTarget({ workflow: "publish", labels: { team: "video", cost: 7 } });
  const { ref, snapshot } = await adapter.start({ key, target, input, attempt: 1 }, callContext());
  const [made] = fake.executions(workflow);
  expect(made).toMatchObject({
    argument: input,
    labels: { team: "video", cost: "7", mcp_by: "taskbridge", mcp_run: key },
  });
  expect(ref).toMatch(/^projects\/demo\/locations\/europe-west1\/workflows\/publish\/executions\/[\w-]+$/);
  expect(snapshot).toMatchObject({ status: "running", startedAt: fake.clock.now() });
});

test("refuses what is too large before anything is sent", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  const largest = JSON.stringify({ text: "é".repeat(16_379) });
  expect(Buffer.byteLength(largest)).toBe(32_769);
  const refused = await errorOf(on.adapter.start(request("publish", on, { input: largest }), callContext()));
  expect(refused).toMatchObject({ code: "invalid_input", notSent: true });
  expect(on.fake.journal.calls).toHaveLength(0);
  await on.adapter.start(
    request("publish", on, { input: JSON.stringify({ text: "x".repeat(32_757) }) }),
    callContext(),
  );
  expect(on.fake.journal.starts).toHaveLength(1);
});

test.each([{ workflow: "{{input.w}}" }, { workflow: "publish", labels: { team: "{{input.w}}" } }])(
  "sends nothing that looks like a placeholder by a caller's value: %j",
  async (target) => {
    const on = await openedAdapter();
    const refused = await errorOf(on.adapter.start({ ...request("publish", on), target }, callContext()));
    expect(refused).toMatchObject({ code: "invalid_input", notSent: true });
    expect(on.fake.journal.calls).toHaveLength(0);
  },
);

test.each([
  ["an answer that is lost", { kind: "lost" }, 1],
  ["an error after it was carried out", { kind: "error-after", code: "INTERNAL" }, 1],
  ["a connection that is cut", { kind: "cut" }, 0],
  ["a page of a gateway", { kind: "html", status: 502 }, 0],
  ["Google being unavailable", { kind: "error", code: "UNAVAILABLE" }, 0],
] as const)("is of unknown outcome and sent once, after %s (case 25)", async (_name, fault, made) => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  on.fake.setFaults({ on: { createExecution: fault } });
  const start = request("publish", on);
  expect(await errorOf(on.adapter.start(start, callContext()))).toMatchObject({
    code: "outcome_unknown",
    notSent: false,
  });
  expect(on.fake.journal.count("createExecution").asked).toBe(1);
  expect(on.fake.journal.starts).toHaveLength(made);
  on.fake.setFaults({});
  const sought = { key: start.key, target: start.target, firstSentAt: on.fake.clock.now() };
  const found = await on.adapter.find?.(sought, callContext());
  expect(found === undefined ? 0 : 1).toBe(made);
});

test.each([
  ["throttled, for it has not begun", { kind: "error", code: "RESOURCE_EXHAUSTED", retryAfterS: 7 }, "throttled"],
  ["denied", { kind: "error", code: "PERMISSION_DENIED" }, "denied"],
  ["invalid input", { kind: "error", code: "INVALID_ARGUMENT" }, "invalid_input"],
  ["unavailable when the token has expired", { kind: "error", code: "UNAUTHENTICATED" }, "unavailable"],
] as const)("is %s", async (_name, fault, code) => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  on.fake.setFaults({ on: { createExecution: fault } });
  expect(await errorOf(on.adapter.start(request("publish", on), callContext()))).toMatchObject({ code, notSent: true });
});

test("names the permission that is missing, and the workflow that is not there", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  on.fake.setFaults({ denies: ["workflows.executions.create"] });
  const denied = await errorOf(on.adapter.start(request("publish", on), callContext()));
  expect(denied).toMatchObject({ code: "denied", notSent: true });
  expect(denied.message).toContain("workflows.executions.create");
  on.fake.setFaults({});
  expect(await errorOf(on.adapter.start(request("nothing", on), callContext()))).toMatchObject({
    code: "not_found",
    message: expect.stringMatching(/no workflow projects\/demo\/.*\/workflows\/nothing: /),
  });
});

test("finds by the key alone, however many others there are, and the oldest of two", async () => {
  const on = await openedAdapter();
  const workflow = on.fake.workflow("publish", runsOn);
  on.fake.populate(workflow, 250);
  const start = request("publish", on);
  const firstSentAt = on.fake.clock.now();
  const { ref } = await on.adapter.start(start, callContext());
  on.clock.advance(5_000);
  await on.adapter.start({ ...start, attempt: 2 }, callContext());
  on.fake.populate(workflow, 250);
  const { key, target } = start;
  expect(await on.adapter.find?.({ key, target, firstSentAt }, callContext())).toBe(ref);
  expect(await on.adapter.find?.({ key: newKey(), target, firstSentAt }, callContext())).toBeUndefined();
});

test("finds the oldest also of those that wait in the backlog", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  on.fake.limitExecutions(0);
  const start = request("publish", on);
  const { ref } = await on.adapter.start(start, callContext());
  on.clock.advance(5_000);
  await on.adapter.start({ ...start, attempt: 2 }, callContext());
  const { key, target } = start;
  expect(await on.adapter.find?.({ key, target, firstSentAt: 0 }, callContext())).toBe(ref);
});

describe("of a server that lists in its own way", () => {
  const key = newKey();
  const listed = (name: string, more: Partial<Execution> = {}): Execution => ({
    name: `projects/1/locations/l/workflows/w/executions/${name}`,
    state: "ACTIVE",
    steps: [],
    labels: {},
    ...more,
  });
  const find = (pageOf: (page: number) => Page<Execution>) => {
    let page = 0;
    return findExecution(
      { list: async () => pageOf(page++) },
      tokenBucket(100, 1),
      { project: "p", location: "l" },
      { key, target: { workflow: "w" }, firstSentAt: 1_000_000 },
      callContext(),
    );
  };

  test("nothing is missing while pages are left", async () => {
    const call = find(() => ({ rows: [], next: "t" }));
    expect(await errorOf(call)).toMatchObject({ code: "unavailable" });
    expect(await find(() => ({ rows: [] }))).toBeUndefined();
  });

  test("it is found among others, whatever clock says that they are older than the start", async () => {
    const others = { rows: [listed("other", { startedAt: 1 })], next: "t" };
    const own = { rows: [listed("own", { startedAt: 0, labels: { mcp_run: key } })] };
    expect(await find((page) => (page < 15 ? others : own))).toMatch(/\/own$/);
  });
});

test("does not tell an end by the answer to a start, which may lack its result", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  const name = "projects/1/locations/europe-west1/workflows/publish/executions/e";
  on.fake.setFaults({
    on: { createExecution: { kind: "garbage", body: JSON.stringify({ name, state: "SUCCEEDED" }) } },
  });
  expect(await on.adapter.start(request("publish", on), callContext())).toEqual({
    ref: "projects/demo/locations/europe-west1/workflows/publish/executions/e",
  });
});

test("cancels, also what has ended already", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", { steps: [step("work", 1_000)] });
  const [running, ended] = [await on.start("publish"), await on.start("publish")];
  await on.adapter.cancel?.(running, "no longer wanted", callContext());
  on.clock.advance(2_000);
  await on.adapter.cancel?.(ended, "no longer wanted", callContext());
  expect((await on.see(running)).status).toBe("cancelled");
  expect((await on.see(ended)).status).toBe("succeeded");
});

test("a cancel of unknown outcome, or of what is not seen yet, is tried again", async () => {
  const on = await openedAdapter();
  on.fake.workflow("publish", runsOn);
  const ref = await on.start("publish");
  on.fake.setFaults({ on: { cancelExecution: { kind: "error", code: "NOT_FOUND" } } });
  const cancelled = (): Promise<void> => on.adapter.cancel?.(ref, "stop", callContext()) ?? Promise.resolve();
  expect(await errorOf(cancelled())).toMatchObject({ code: "unavailable" });
  on.fake.setFaults({ on: { cancelExecution: { kind: "lost" } } });
  expect(await errorOf(cancelled())).toMatchObject({ code: "outcome_unknown" });
  on.fake.setFaults({});
  await cancelled();
  expect((await on.see(ref)).status).toBe("cancelled");
});
