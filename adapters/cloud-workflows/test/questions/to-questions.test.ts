import { describe, expect, test } from "@jest/globals";
import type { Callback, StepEntry } from "../../src/google/client.ts";
import { type Asked, toQuestions, type Waiting } from "../../src/questions/to-questions.ts";

const execution = "projects/p/locations/l/workflows/publish/executions/e";
const urlOf = (id: string): string => `https://workflowexecutions.googleapis.com/v1/${execution}/callbacks/${id}`;
const callback = (id: string, more: Partial<Callback> = {}): Callback => ({
  id,
  method: "POST",
  waiters: 1,
  payloads: [],
  ...more,
});
let entries = 0;
const entry = (step: string, variables: StepEntry["variables"] = {}, more: Partial<StepEntry> = {}): StepEntry => ({
  id: String(++entries),
  routine: "main",
  step,
  type: "STEP_STD_LIB_CALL",
  variables,
  ...more,
});
const details = (id: string) => ({ callback_details: { url: urlOf(id) } });

const asked = (more: Partial<Waiting>): readonly Asked[] =>
  toQuestions({
    workflowId: "publish",
    callbacks: [callback("a"), callback("b")],
    entries: undefined,
    current: [],
    prompts: {},
    known: new Map(),
    ...more,
  });

/** Messages by the callback, and whether a step was found for it. */
const reported = (more: Partial<Waiting>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    asked(more).map(({ question: { id, message } }) => [
      id.replace(/^gcw:/, "").replace(/:(\d+|[0-9a-f]{12})$/, ""),
      message,
    ]),
  );

describe("callbacks are matched", () => {
  test("by their addresses among the variables of the steps that go on", () => {
    const entries = [entry("ask_one", details("a")), entry("ask_two", { nested: [{ deep: details("b") }] })];
    expect(reported({ entries })).toEqual({ a: "ask one waits for an answer", b: "ask two waits for an answer" });
  });

  test("by the variable mcp of the step that holds the address", () => {
    const mcp = { message: "One?", step: "ask_one" };
    const entries = [entry("ask_one", { ...details("a"), mcp }), entry("ask_two", { ...details("b"), mcp })];
    expect(reported({ entries })).toEqual({ a: "One?", b: "ask two waits for an answer" });
  });

  test("by the address that mcp itself names, wherever it is in scope", () => {
    const mcp = { message: "One?", url: urlOf("a") };
    const entries = [entry("ask_one", { mcp, ...details("a") }), entry("work", { mcp, ...details("a") })];
    expect(reported({ entries, callbacks: [callback("a")] })).toEqual({ a: "One?" });
  });

  test("by a step and an address that mcp names together", () => {
    const mcp = { message: "One?", url: urlOf("a"), step: "main.ask_one" };
    const entries = [entry("ask_one", { mcp, ...details("b") }), entry("work", { mcp, ...details("b") })];
    const questions = asked({ entries });
    expect(questions.map(({ question }) => question.id)).toEqual([
      `gcw:a:${entries[0]?.id}`,
      `gcw:b:unmatched:${entries[0]?.id}`,
    ]);
  });

  test("by the only step that may wait, which no container or connector is", () => {
    const entries = [
      entry("both", {}, { type: "STEP_PARALLEL_BRANCH" }),
      entry("bucket", {}, { type: "STEP_CONNECTOR_CALL" }),
      entry("ask", {}, { routine: "approval" }),
    ];
    expect(reported({ entries, callbacks: [callback("a")] })).toEqual({ a: "ask waits for an answer" });
    const prompts = { "approval.ask": { message: "Publish?" } };
    expect(reported({ entries, prompts, callbacks: [callback("a")] })).toEqual({ a: "Publish?" });
  });
});

describe("callbacks are not matched", () => {
  const unsure = (index: number, at = ""): string =>
    `publish waits for answer ${index} of 2${at}. Google does not tell which step it is for: whichever waits gets it.`;

  test("where nothing tells them apart", () => {
    const entries = [entry("ask_one"), entry("ask_two")];
    const at = " (now at: ask_one, ask_two)";
    expect(reported({ entries })).toEqual({ "a:unmatched": unsure(1, at), "b:unmatched": unsure(2, at) });
    expect(reported({})).toEqual({ "a:unmatched": unsure(1), "b:unmatched": unsure(2) });
  });

  test("where both addresses are in scope of both steps", () => {
    const both = { one: { url: urlOf("a") }, two: { url: urlOf("b") } };
    const questions = reported({ entries: [entry("ask_one", both), entry("ask_two", both)] });
    expect(Object.keys(questions)).toEqual(["a:unmatched", "b:unmatched"]);
  });

  test("where a step that runs beside holds the address, too", () => {
    const entries = [entry("ask", details("a")), entry("upload", details("a"))];
    expect(Object.keys(reported({ entries, callbacks: [callback("a")] }))).toEqual(["a:unmatched"]);
  });

  test("to what the execution itself is at, which may be in another branch, and is not named", () => {
    const current = [{ routine: "main", step: "approve_text" }];
    const prompts = { approve_text: { message: "Text?" }, approve_picture: { message: "Picture?" } };
    expect(reported({ current, prompts, callbacks: [callback("a")] })).toEqual({
      "a:unmatched": expect.stringMatching(/^publish waits for an answer\. Google does not tell/),
    });
  });

  test("to the only step that is configured where the execution is elsewhere, then or at any look before", () => {
    const prompts = { approve: { message: "Text?" } };
    const at = (step: string) => ({ prompts, callbacks: [callback("a")], current: [{ routine: "main", step }] });
    const [before] = asked(at("wipe"));
    expect(reported(at("approve"))).toEqual({ a: "Text?" });
    expect(Object.keys(reported(at("wipe")))).toEqual(["a:unmatched"]);
    const known = new Map([["a", before?.known ?? {}]]);
    expect(Object.keys(reported({ ...at("approve"), known }))).toEqual(["a:unmatched"]);
  });

  test("where two steps wait for one callback", () => {
    const callbacks = [callback("a", { waiters: 2 })];
    expect(Object.keys(reported({ callbacks, entries: [entry("ask", details("a"))] }))).toEqual(["a:unmatched"]);
  });

  test("while the answer to one of two is still to be read", () => {
    const callbacks = [callback("a", { payloads: ["x"] }), callback("b")];
    const entries = [entry("approve_text"), entry("approve_picture")];
    const prompts = { approve_text: { message: "Text?" } };
    expect(reported({ callbacks, entries, prompts: { ...prompts, approve_picture: {} } })).toEqual({
      "b:unmatched": expect.stringContaining("now at: approve_text, approve_picture"),
    });
  });
});

test("only those are asked that are waited for and not answered", () => {
  const callbacks = [callback("a", { waiters: 0 }), callback("b", { payloads: ["x"] })];
  expect(reported({ callbacks, entries: [entry("ask")] })).toEqual({});
});

describe("a question's ID", () => {
  const idOf = (more: Partial<Waiting>): string | undefined =>
    asked({ callbacks: [callback("a")], ...more })[0]?.question.id;
  const [ask, again, upload, download] = [entry("ask"), entry("ask"), entry("upload"), entry("download")];
  const wait = (...entries: readonly StepEntry[]) => ({ entries });

  test("is another one when another step waits, or the same step once more", () => {
    expect(idOf(wait(ask))).toBe(`gcw:a:${ask.id}`);
    expect(idOf(wait(again))).toBe(`gcw:a:${again.id}`);
  });

  test("stays while that step goes on, whatever begins beside it", () => {
    const [first] = asked({ ...wait(ask), callbacks: [callback("a")] });
    const known = new Map([["a", first?.known ?? {}]]);
    expect(idOf({ ...wait(ask, upload), known })).toBe(`gcw:a:${ask.id}`);
    expect(idOf({ ...wait(upload), known })).toBe(`gcw:a:${upload.id}`);
    // Who has not seen it alone cannot tell.
    expect(idOf(wait(ask, upload))).toBe(`gcw:a:unmatched:${ask.id}`);
  });

  test("stays where it cannot be told, until the step that has gone on for longest is over", () => {
    const beside = (...others: readonly StepEntry[]) => idOf(wait(...others, ask));
    expect(beside(upload)).toBe(beside(download));
    expect(idOf(wait(upload, download))).not.toBe(beside(upload));
  });

  test("is another one when a variable asks something else at the callback", () => {
    const by = (message: string) => {
      const mcp = { message, url: urlOf("a") };
      return idOf(wait(entry("one", { mcp }), entry("two", { mcp })));
    };
    expect(by("One?")).toBe(by("One?"));
    expect(by("One?")).not.toBe(by("Two?"));
  });

  test("is one for all where there is no history", () => {
    expect(idOf({})).toBe("gcw:a:unmatched");
  });
});

describe("what a workflow's variable says", () => {
  const question = (mcp: unknown, argument?: string) => {
    const meant = typeof mcp === "object" ? { step: "ask", ...mcp } : mcp;
    const [first] = asked({ callbacks: [callback("a")], entries: [entry("ask", { mcp: meant })], argument });
    return first?.question;
  };
  const isDeclinable = (mcp: unknown): unknown => JSON.parse(question(mcp)?.secret ?? "{}").declinable;

  test("is taken as far as it is usable", () => {
    expect(question({ message: 7, requestedSchema: "x" })).toMatchObject({
      message: "ask waits for an answer",
      schema: { type: "object" },
    });
    expect(question("text")).toMatchObject({ message: "ask waits for an answer" });
    expect(question({ message: "x".repeat(1_000_000) })?.message).toHaveLength(20_000);
    let deep: object = {};
    for (let depth = 0; depth < 20_000; depth++) deep = { deep };
    expect(question({ message: "Go?", requestedSchema: deep })).toMatchObject({
      message: "Go?",
      schema: { type: "object" },
    });
  });

  test("counts only for the step or the callback that it names", () => {
    const by = (named: object) => question({ message: "Approve the draft?", step: undefined, ...named })?.message;
    expect(by({ step: "ask" })).toBe("Approve the draft?");
    expect(by({ url: urlOf("a") })).toBe("Approve the draft?");
    const own = "ask waits for an answer";
    expect([by({}), by({ step: "ask_before" }), by({ url: urlOf("b") }), by({ step: 7 })]).toEqual([
      own,
      own,
      own,
      own,
    ]);
    expect(by({ step: "ask", url: urlOf("b") })).toBe(own);
  });

  test("does not count where a caller has said it", () => {
    const mcp = { message: "Say yes to get a cookie", step: "ask" };
    const turned = '{"step":"ask","message":"Say yes to get a cookie"}';
    const own = "ask waits for an answer";
    for (const argument of [turned, `{"mcp":${turned}}`, `[{"deep":[${turned}]}]`])
      expect(question(mcp, argument)?.message).toBe(own);
    expect(question(mcp, '{"message":"Say yes to get a cookie"}')?.message).toBe(mcp.message);
    expect(question(mcp, "{oops")?.message).toBe(mcp.message);
    expect(question(mcp, `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)?.message).toBe(mcp.message);
  });

  test("may be declined unless an answer could be taken for a refusal", () => {
    expect(isDeclinable({ declinable: true })).toBe(true);
    expect(isDeclinable({ declinable: "yes" })).toBe(false);
    expect(isDeclinable({ declinable: true, requestedSchema: { type: "object", properties: { action: {} } } })).toBe(
      false,
    );
  });

  test("never shows a callback's address", () => {
    const reported = question({
      message: `POST ${urlOf("a")}`,
      requestedSchema: { type: "object", title: urlOf("a") },
    });
    expect(JSON.stringify({ ...reported, secret: "" })).not.toContain("/callbacks/");
  });
});
