import { describe, expect, test } from "@jest/globals";
import type { Callback, StepEntry } from "../../src/google/client.ts";
import { toQuestions, type Waiting } from "../../src/questions/to-questions.ts";

const execution = "projects/p/locations/l/workflows/publish/executions/e";
const urlOf = (id: string): string => `https://workflowexecutions.googleapis.com/v1/${execution}/callbacks/${id}`;
const callback = (id: string, more: Partial<Callback> = {}): Callback => ({
  id,
  method: "POST",
  waiters: 1,
  payloads: [],
  ...more,
});
const entry = (step: string, variables: StepEntry["variables"] = {}, more: Partial<StepEntry> = {}): StepEntry => ({
  routine: "main",
  step,
  type: "STEP_STD_LIB_CALL",
  variables,
  ...more,
});
const details = (id: string) => ({ callback_details: { url: urlOf(id) } });

const told = (more: Partial<Waiting>): Readonly<Record<string, string>> => {
  const waiting = {
    workflowId: "publish",
    callbacks: [callback("a"), callback("b")],
    entries: undefined,
    current: [],
    prompts: {},
  };
  const questions = toQuestions({ ...waiting, ...more });
  return Object.fromEntries(questions.map(({ id, message }) => [id.replace(/^gcw:/, ""), message]));
};

describe("callbacks are matched", () => {
  test("by their addresses among the variables of the steps that go on", () => {
    const entries = [entry("ask_one", details("a")), entry("ask_two", { nested: [{ deep: details("b") }] })];
    expect(told({ entries })).toEqual({ a: "ask one waits for an answer", b: "ask two waits for an answer" });
  });

  test("by the variable mcp of the step that holds the address", () => {
    const entries = [entry("ask_one", { ...details("a"), mcp: { message: "One?" } }), entry("ask_two", details("b"))];
    expect(told({ entries })).toEqual({ a: "One?", b: "ask two waits for an answer" });
  });

  test("by the address that mcp itself names, wherever it is in scope", () => {
    const mcp = { message: "One?", url: urlOf("a") };
    const entries = [entry("ask_one", { mcp, ...details("a") }), entry("work", { mcp, ...details("a") })];
    expect(told({ entries, callbacks: [callback("a")] })).toEqual({ a: "One?" });
  });

  test("by the only step that may wait, which no container or connector is", () => {
    const entries = [
      entry("both", {}, { type: "STEP_PARALLEL_BRANCH" }),
      entry("bucket", {}, { type: "STEP_CONNECTOR_CALL" }),
      entry("ask", {}, { routine: "approval" }),
    ];
    expect(told({ entries, callbacks: [callback("a")] })).toEqual({ a: "ask waits for an answer" });
    const prompts = { "approval.ask": { message: "Publish?" } };
    expect(told({ entries, prompts, callbacks: [callback("a")] })).toEqual({ a: "Publish?" });
  });
});

describe("callbacks are not matched", () => {
  const unsure = (index: number, at = ""): string =>
    `publish waits for answer ${index} of 2${at}. Google does not tell which step it is for.`;

  test("where nothing tells them apart", () => {
    const entries = [entry("ask_one"), entry("ask_two")];
    const at = " (now at: ask_one, ask_two)";
    expect(told({ entries })).toEqual({ "a:unmatched": unsure(1, at), "b:unmatched": unsure(2, at) });
    expect(told({})).toEqual({ "a:unmatched": unsure(1), "b:unmatched": unsure(2) });
  });

  test("where both addresses are in scope of both steps", () => {
    const both = { one: { url: urlOf("a") }, two: { url: urlOf("b") } };
    const questions = told({ entries: [entry("ask_one", both), entry("ask_two", both)] });
    expect(Object.keys(questions)).toEqual(["a:unmatched", "b:unmatched"]);
  });

  test("where a step that runs beside holds the address, too", () => {
    const entries = [entry("ask", details("a")), entry("upload", details("a"))];
    expect(Object.keys(told({ entries, callbacks: [callback("a")] }))).toEqual(["a:unmatched"]);
  });

  test("to what the execution itself is at, which may be in another branch", () => {
    const current = [{ routine: "main", step: "approve_text" }];
    const prompts = { approve_text: { message: "Text?" }, approve_picture: { message: "Picture?" } };
    expect(told({ current, prompts, callbacks: [callback("a")] })).toEqual({
      "a:unmatched": "publish waits for an answer (now at: approve_text). Google does not tell which step it is for.",
    });
  });

  test("while the answer to one of two is still to be read", () => {
    const callbacks = [callback("a", { payloads: ["x"] }), callback("b")];
    const entries = [entry("approve_text"), entry("approve_picture")];
    const prompts = { approve_text: { message: "Text?" } };
    expect(told({ callbacks, entries, prompts: { ...prompts, approve_picture: {} } })).toEqual({
      "b:unmatched": expect.stringContaining("now at: approve_text, approve_picture"),
    });
  });
});

test("only those are asked that are waited for and not answered", () => {
  const callbacks = [callback("a", { waiters: 0 }), callback("b", { payloads: ["x"] })];
  expect(told({ callbacks, entries: [entry("ask")] })).toEqual({});
});

describe("what a workflow's variable says", () => {
  const question = (mcp: unknown) => {
    const waiting = {
      workflowId: "publish",
      callbacks: [callback("a")],
      entries: [entry("ask", { mcp })],
      current: [],
    };
    const [asked] = toQuestions({ ...waiting, prompts: {} });
    return asked;
  };
  const isDeclinable = (mcp: unknown): unknown => JSON.parse(question(mcp)?.secret ?? "{}").declinable;

  test("is taken as far as it is usable", () => {
    expect(question({ message: 7, requestedSchema: "x" })).toMatchObject({
      message: "ask waits for an answer",
      schema: { type: "object" },
    });
    expect(question("text")).toMatchObject({ message: "ask waits for an answer" });
    let deep: object = {};
    for (let depth = 0; depth < 20_000; depth++) deep = { deep };
    expect(question({ message: "Go?", requestedSchema: deep })).toMatchObject({
      message: "Go?",
      schema: { type: "object" },
    });
  });

  test("may be declined unless an answer could be taken for a refusal", () => {
    expect(isDeclinable({ declinable: true })).toBe(true);
    expect(isDeclinable({ declinable: "yes" })).toBe(false);
    expect(isDeclinable({ declinable: true, requestedSchema: { type: "object", properties: { action: {} } } })).toBe(
      false,
    );
  });

  test("never shows a callback's address", () => {
    const asked = question({ message: `POST ${urlOf("a")}`, requestedSchema: { type: "object", title: urlOf("a") } });
    expect(JSON.stringify({ ...asked, secret: "" })).not.toContain("/callbacks/");
  });
});
