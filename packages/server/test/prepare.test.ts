import { afterEach, describe, expect, test } from "@jest/globals";
import type { Prepare } from "@taskbridge/core";
import { extension } from "./rpc-client.ts";
import { serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const nameSchema = { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] };

/** Asks for a name, then for a confirmation. */
const prepare: Prepare = (input, answers) => {
  const { who, sure } = answers;
  if (who === undefined) return { questions: { who: { message: "Who?", schema: nameSchema } } };
  if (who.action !== "accept") return { refused: "No name, no job." };
  if (sure === undefined) return { questions: { sure: { message: "Sure?" } } };
  if (sure.action !== "accept") return { refused: "Not sure." };
  return { input: { ...input, who: (who.content as { name: string }).name } };
};

const form = { capabilities: { elicitation: { form: {} } } };
const ada = { who: { action: "accept", content: { name: "Ada" } } };
const sure = { sure: { action: "accept", content: {} } };

const setUp = async () => {
  const served = await serve({
    tools: ["job", "other"].map((name) => ({ name, adapter: "fake", target: { run: name }, prepare })),
  });
  const call = (params: object = {}, options: object = form) =>
    served.rpc("tools/call", { name: "job", arguments: { a: 1, b: 2 }, ...params }, options);
  return { ...served, call };
};

describe("[A-16] questions before the task", () => {
  test("are asked round by round, and then the task is handed out", async () => {
    const { call, backend } = await setUp();
    const first = (await call()).result;
    expect(first).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        who: { method: "elicitation/create", params: { mode: "form", message: "Who?", requestedSchema: nameSchema } },
      },
      requestState: expect.any(String),
    });
    expect(first).not.toHaveProperty("taskId");
    const second = (await call({ inputResponses: ada, requestState: first.requestState })).result;
    expect(second).toMatchObject({ resultType: "input_required", inputRequests: { sure: {} } });
    expect(backend.starts()).toBe(0);
    const third = (await call({ inputResponses: sure, requestState: second.requestState, arguments: { b: 2, a: 1 } }))
      .result;
    expect(third).toMatchObject({ resultType: "task", status: "working" });
    expect(third).not.toHaveProperty("requestState");
    expect(third).not.toHaveProperty("inputRequests");
    expect(JSON.parse(backend.of().input)).toEqual({ a: 1, b: 2, who: "Ada" });
  });

  test("what is missing or no answer at all is asked for again", async () => {
    const { call } = await setUp();
    const { requestState } = (await call()).result;
    for (const inputResponses of [undefined, null, {}, { unknown: {} }, { who: 12345 }]) {
      expect((await call({ inputResponses, requestState })).result).toMatchObject({
        resultType: "input_required",
        inputRequests: { who: {} },
      });
    }
  });

  test("an answer that does not fit is refused by the name of its field", async () => {
    const { call } = await setUp();
    const { requestState } = (await call()).result;
    for (const [who, path] of [
      [{ action: "accept", content: {} }, "inputResponses.who.content"],
      [{ action: "accept", content: { name: 1 } }, "inputResponses.who.content"],
      [{ action: "perhaps" }, "inputResponses.who.action"],
    ] as const) {
      const { error } = await call({ inputResponses: { who }, requestState });
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining(path), data: { path } });
    }
  });

  test("a person may refuse or dismiss", async () => {
    const { call, backend } = await setUp();
    const { requestState } = (await call()).result;
    for (const action of ["decline", "cancel"]) {
      const { result } = await call({ inputResponses: { who: { action } }, requestState });
      expect(result).toMatchObject({ resultType: "complete", isError: true, content: [{ text: "No name, no job." }] });
    }
    expect(backend.starts()).toBe(0);
  });

  test("answers without a state are not believed", async () => {
    const { call } = await setUp();
    expect((await call({ inputResponses: { ...ada, ...sure } })).result).toMatchObject({
      resultType: "input_required",
    });
  });

  test("a state that was tampered with, or is of another tool or other arguments, is refused", async () => {
    const { call, backend } = await setUp();
    const requestState = String((await call()).result.requestState);
    const [version = "", payload = "", signature = ""] = requestState.split(".");
    const forged = Buffer.from(payload, "base64url").toString().replace('"answers":{}', '"answers":{"who":{}}');
    for (const params of [
      { requestState: `${requestState}x` },
      { requestState: [version, Buffer.from(forged).toString("base64url"), signature].join(".") },
      { requestState: "" },
      { requestState, name: "other" },
      { requestState, arguments: { a: 1, b: 3 } },
    ]) {
      const { error } = await call({ inputResponses: ada, ...params });
      expect([error.code, error.data]).toEqual([-32_602, { reason: "invalid_request_state" }]);
    }
    expect(backend.starts()).toBe(0);
  });

  test("a state is good for the owner it was made for, on any replica with the key", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, prepare }];
    const stateKey = "k".repeat(32);
    const auth = {
      authenticate: async (headers: Readonly<Record<string, string | undefined>>) => ({
        identity: { issuer: "test", subject: headers["x-user"] ?? "nobody" },
      }),
    };
    const one = await serve({ tools, stateKey, auth });
    const two = await serve({ tools, stateKey, auth });
    const as = (user: string) => ({ ...form, headers: { "x-user": user } });
    const { requestState } = (await one.rpc("tools/call", { name: "job" }, as("ada"))).result;
    const params = { name: "job", inputResponses: ada, requestState };
    expect((await two.rpc("tools/call", params, as("ada"))).result).toMatchObject({ inputRequests: { sure: {} } });
    expect((await two.rpc("tools/call", params, as("eve"))).error.code).toBe(-32_602);
  });

  test("are not sent to a client that could not answer them", async () => {
    const { call } = await setUp();
    const { status, error } = await call({}, { capabilities: {} });
    expect([status, error.code]).toEqual([400, -32_021]);
    expect(error.data).toMatchObject({ requiredCapabilities: { elicitation: {} } });
  });

  test("serve callers without the extension as well", async () => {
    const { call } = await setUp();
    const noTasks = { ...form, tasks: false };
    const first = (await call({}, noTasks)).result;
    const second = (await call({ inputResponses: ada, requestState: first.requestState }, noTasks)).result;
    const third = (await call({ inputResponses: sure, requestState: second.requestState }, noTasks)).result;
    expect(third).toMatchObject({ resultType: "complete", structuredContent: { taskStatus: "working" } });
    expect(JSON.stringify(third)).not.toContain(extension);
  });

  test("never ask for a secret", async () => {
    const schema = { type: "object", properties: { token: { type: "string", format: "password" } } };
    const tools = [
      {
        name: "job",
        adapter: "fake",
        target: { run: "job" },
        prepare: () => ({ questions: { token: { message: "Token?", schema } } }),
      },
    ];
    const { rpc } = await serve({ tools });
    expect((await rpc("tools/call", { name: "job" }, form)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("secret") }],
    });
  });

  test("come to an end", async () => {
    const asks = () => ({ questions: { again: { message: "Again?" } } });
    const { rpc } = await serve({ tools: [{ name: "job", adapter: "fake", target: { run: "job" }, prepare: asks }] });
    let { result } = await rpc("tools/call", { name: "job" }, form);
    for (let round = 0; round < 30 && result.resultType === "input_required"; round++) {
      const inputResponses = { again: { action: "accept" } };
      ({ result } = await rpc("tools/call", { name: "job", inputResponses, requestState: result.requestState }, form));
    }
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("20 times") }] });
  });

  test("a key that is too short is refused", async () => {
    await expect(serve({ stateKey: "short" })).rejects.toMatchObject({ data: { path: "stateKey" } });
  });
});
