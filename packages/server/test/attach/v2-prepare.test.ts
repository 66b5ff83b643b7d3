import { afterEach, describe, expect, test } from "@jest/globals";
import { createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import type { Prepare } from "@taskbridge/core";
import { attachTasks, type PlainTool } from "../../src/index.ts";
import { start, stopAll } from "../serve.ts";
import { type Call2026, callByFetch, openPipe } from "./connect-v2.ts";
import { createHostV2 } from "./host-v2.ts";

afterEach(stopAll);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const prepare: Prepare = (input, { who }) => {
  if (who === undefined) return { questions: { who: { message: "Who?", schema } } };
  if (who.action !== "accept") return { refused: "No name, no job." };
  return { input: { ...input, who: (who.content as { name: string }).name } };
};

/** Asks the client's model, and for its folders. */
const curious: PlainTool = {
  name: "curious",
  inputSchema: { type: "object" },
  call: () =>
    inputRequired({
      inputRequests: {
        poem: inputRequired.createMessage({
          messages: [{ role: "user", content: { type: "text", text: "A poem" } }],
          maxTokens: 10,
        }),
      },
      requestState: "{}",
    }),
};

const form = { capabilities: { elicitation: { form: {} } } };
const ada = { who: { action: "accept", content: { name: "Ada" } } };

const connections: Readonly<Record<string, (factory: () => ReturnType<typeof createHostV2>) => Promise<Call2026>>> = {
  HTTP: async (factory) => callByFetch(createMcpHandler(factory).fetch),
  stdio: async (factory) => {
    const pipe = await openPipe(factory);
    closing.push(pipe.close);
    return pipe.call;
  },
};

const setUp = async (connection: string, hostState?: (state: string) => Promise<unknown>) => {
  const { server, backend } = await start({
    tools: [{ name: "our-job", adapter: "fake", target: { run: "job" }, prepare }],
    plainTools: [curious],
  });
  const factory = () => {
    const host = createHostV2(hostState === undefined ? {} : { requestState: { verify: hostState } });
    attachTasks(host, server);
    return host;
  };
  const send = await connections[connection]?.(factory);
  if (send === undefined) throw new Error("no connection");
  const call = async (params: object = {}, options: object = form, name = "our-job") =>
    (await send("tools/call", { name, arguments: { a: 1 }, ...params }, options)).at(-1);
  return { backend, call };
};

describe.each(Object.keys(connections))("questions before a task in an SDK v2 server, over %s", (connection) => {
  test("are asked, answered, and the task begins", async () => {
    const { backend, call } = await setUp(connection);
    const asked = (await call())?.result;
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { who: { method: "elicitation/create", params: { message: "Who?" } } },
    });
    const { requestState } = asked ?? {};
    expect((await call({ requestState, inputResponses: ada }))?.result).toMatchObject({ resultType: "task" });
    expect(JSON.parse(backend.of().input)).toEqual({ a: 1, who: "Ada" });
    const refused = { who: { action: "decline" } };
    expect((await call({ requestState, inputResponses: refused }))?.result).toMatchObject({ isError: true });
  });

  test("come with a state that cannot be changed, nor used for another call", async () => {
    const { backend, call } = await setUp(connection);
    const { requestState } = (await call())?.result ?? {};
    const tampered = `${String(requestState).slice(0, -2)}xx`;
    for (const params of [
      { requestState: tampered, inputResponses: ada },
      { requestState: "nonsense", inputResponses: ada },
      { requestState, inputResponses: ada, arguments: { a: 2 } },
    ]) {
      expect((await call(params))?.error).toMatchObject({
        code: -32_602,
        message: expect.stringContaining("requestState"),
      });
    }
    expect(backend.starts()).toBe(0);
  });

  test("are not put to a client that does not declare what they need", async () => {
    const { call } = await setUp(connection);
    expect((await call({}, {}))?.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect((await call({}, { capabilities: { elicitation: { url: {} } } }))?.error?.code).toBe(-32_021);
    expect((await call({}, form, "curious"))?.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { sampling: {} } },
    });
    const sampling = { capabilities: { sampling: {} } };
    expect((await call({}, sampling, "curious"))?.result).toMatchObject({ inputRequests: { poem: {} } });
  });

  test("leave a host's own states alone, also where it verifies them itself", async () => {
    const verify = async (state: string): Promise<unknown> => {
      if (!state.startsWith("host-")) throw new Error("not of this host");
      return state;
    };
    const { backend, call } = await setUp(connection, verify);
    const { requestState } = (await call())?.result ?? {};
    expect((await call({ requestState, inputResponses: ada }))?.result).toMatchObject({ resultType: "task" });
    expect(backend.starts()).toBe(1);
    const own = { requestState: "host-state", inputResponses: ada };
    expect((await call(own, form, "asks"))?.result).toMatchObject({
      content: [{ text: expect.stringContaining("host-state") }],
    });
    const ours = { requestState, inputResponses: ada };
    expect((await call(ours, form, "asks"))?.error).toMatchObject({ code: -32_602 });
    expect((await call(own))?.error).toMatchObject({ code: -32_602 });
  });
});
