import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ProgressNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { eventually } from "../serve.ts";

/** A call's result, or its error. */
export const outcomeOf = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { code: error.code, message: error.message, data: error.data };
  }
};

/** Whom the host asks. Before `connect`. */
export const answerHost = (client: Client): void => {
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
};

/** Everything that the host of `createHostV1` answers by itself, beside its tasks, and all it tells meanwhile. */
export const ownCalls = async (client: Client, { canAsk }: { readonly canAsk: boolean }): Promise<unknown> => {
  const logged: unknown[] = [];
  const progress: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
  // The SDK's own listener forgets a call with its answer, which may overtake what came before.
  client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void progress.push(params));
  const call = (name: string, args: object = {}): Promise<unknown> =>
    outcomeOf(client.request({ method: "tools/call", params: { name, arguments: { ...args } } }, anyResult));
  const { tools } = await client.listTools();
  const complete = (ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string }, name: string) =>
    outcomeOf(client.complete({ ref, argument: { name, value: name === "id" ? "1" : "A" } }));
  return {
    identity: [client.getServerVersion(), client.getInstructions()],
    tools: tools.filter(({ name }) => !/^(our-|task_)/.test(name)),
    good: await call("add", { a: 1, b: 2 }),
    badArguments: await call("add", { a: "x" }),
    output: await call("count", { words: ["a", "b"] }),
    wrongOutput: await call("wrong-output"),
    thrown: await call("fails"),
    unknownTool: await call("nope"),
    withoutName: await outcomeOf(
      client.request({ method: "tools/call", params: { arguments: {} } } as never, anyResult),
    ),
    steps: await outcomeOf(
      client.request({ method: "tools/call", params: { name: "steps", _meta: { progressToken: "p" } } }, anyResult),
    ),
    reported: await eventually(() => progress.length === 2 && logged.length === 2),
    asks: canAsk ? await call("asks") : "not asked",
    prompts: await client.listPrompts(),
    prompt: await client.getPrompt({ name: "greet", arguments: { name: "Ada" } }),
    unknownPrompt: await outcomeOf(client.getPrompt({ name: "nope" })),
    resources: await client.listResources(),
    templates: (await client.listResourceTemplates()).resourceTemplates.filter(({ name }) => name !== "task result"),
    resource: await client.readResource({ uri: "file:///readme" }),
    fromTemplate: await client.readResource({ uri: "note://7" }),
    unknownResource: await outcomeOf(client.readResource({ uri: "file:///nope" })),
    completedPrompt: await complete({ type: "ref/prompt", name: "greet" }, "name"),
    completedTemplate: await complete({ type: "ref/resource", uri: "note://{id}" }, "id"),
    level: await outcomeOf(client.setLoggingLevel("debug")),
    ping: await client.ping(),
    unknownMethod: await outcomeOf(client.request({ method: "nope/nope", params: {} }, anyResult)),
    logged,
    progress,
  };
};

const anyResult = { safeParse: (data: unknown) => ({ success: true as const, data }) } as never;
