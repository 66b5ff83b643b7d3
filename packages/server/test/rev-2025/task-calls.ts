import type { JsonObject, ToolDefinition } from "@taskbridge/core";
import type { MessageStream, Rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";

export const yes: JsonObject = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

/** A tool whose task a test moves. */
export const job: ToolDefinition = {
  name: "job",
  adapter: "fake",
  target: { run: "job" },
  task: { pollIntervalMs: 1_000 },
};

export const form: Record<string, unknown> = { elicitation: { form: {} } };

export const relatedTo = (taskId: string): Record<string, unknown> => ({
  "io.modelcontextprotocol/related-task": { taskId },
});

/** The ID of the task that a call has become. */
export const callForTask = async (
  rpc: Rpc2025,
  name = "job",
  params: Record<string, unknown> = {},
): Promise<string> => {
  const { result } = await rpc.request("tools/call", { name, arguments: {}, task: {}, ...params });
  const { taskId } = (result.task ?? {}) as { taskId?: unknown };
  if (typeof taskId !== "string") throw new Error(`no task: ${JSON.stringify(result)}`);
  return taskId;
};

export const isElicitation = ({ method }: Message): boolean => method === "elicitation/create";

/** Everything of one method that came on any of these streams. */
export const sentOn = (method: string, ...streams: readonly MessageStream[]): readonly Message[] =>
  streams.flatMap(({ messages }) => messages.filter((message) => message.method === method));

export const questionsOn = (...streams: readonly MessageStream[]): readonly Message[] =>
  sentOn("elicitation/create", ...streams);

/** Answers a request of the server; gives the HTTP status. */
export const reply = (
  rpc: Rpc2025,
  asked: Message,
  result: Record<string, unknown> = { action: "accept", content: { ok: true } },
): Promise<number> => rpc.send({ id: asked.id, result });
