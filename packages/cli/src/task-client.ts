import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "@taskbridge/core";
import { CliError, usageError } from "./cli-error.ts";
import type { CallOptions, CallOutcome, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import type { Members } from "./wire/members.ts";
import {
  clientCapabilities,
  clientInfo,
  protocolVersion,
  type Request,
  retryWhileUnreachable,
  taskRequests,
  tasksExtension,
  toCliError,
} from "./wire/task-requests.ts";
import { toElicitResult, toInputResponses, toQuestion, toQuestions } from "./wire/to-questions.ts";
import { textsOf, toImmediate, toResult } from "./wire/to-result.ts";
import { toStatus } from "./wire/to-status.ts";

// All that the CLI needs of an MCP client. The SDK's client refuses task results, so calls go through its transport.

export interface TaskClientOptions {
  readonly url: URL;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** `auto`: tasks where the server has them. */
  readonly wire: "auto" | "2026-07-28" | "none";
  /** Told when the server cannot be reached for a while. */
  onTrouble(message: string): void;
}

/** An untasked call of ours lasts 45 s at most; other servers may take longer. */
const untaskedTimeoutMs = 600_000;
const shortestPollMs = 100;

/** Connects to an MCP server over HTTP, through the tasks extension where wanted and there. */
export const connectTaskClient = async (options: TaskClientOptions): Promise<TaskSource> => {
  let ask: CallOptions["ask"] | undefined;
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: options.wire === protocolVersion ? { pin: protocolVersion } : "auto" },
  });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const answers = await ask?.([toQuestion("question", { params: params as Members })]);
    return toElicitResult(answers?.["question"]) as { action: "accept" | "decline" | "cancel" };
  });
  const transport = new StreamableHTTPClientTransport(
    options.url,
    options.token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${options.token}` } } },
  );
  try {
    await client.connect(transport);
  } catch (error) {
    throw toCliError(error, options.url);
  }

  const hasTasks =
    client.getNegotiatedProtocolVersion() === protocolVersion &&
    client.getServerCapabilities()?.extensions?.[tasksExtension] !== undefined;
  if (options.wire === protocolVersion && !hasTasks) {
    await client.close();
    throw new CliError(`${options.url}: the server does not offer the tasks extension of ${protocolVersion}`);
  }
  const request = taskRequests(transport, options.url);
  const source = taskSource(request, options);
  const callUntasked = async (tool: string, input: JsonObject, call: CallOptions): Promise<CallOutcome> => {
    ask = call.ask;
    const limits = { signal: call.signal, timeout: untaskedTimeoutMs };
    const result = await client.callTool({ name: tool, arguments: { ...input } }, limits).catch((error: unknown) => {
      throw toCliError(error, options.url);
    });
    const { taskId, taskStatus } = ((result as Members)["structuredContent"] ?? {}) as Members;
    if (typeof taskId !== "string" || typeof taskStatus !== "string") return toImmediate(request, result as Members);
    // The server has waited long enough and handed out what other wires call a task.
    if (hasTasks) return { kind: "task", task: await source.readTask(taskId) };
    throw new CliError(textsOf(result as Members).join("\n"));
  };
  return {
    ...source,
    callTool: hasTasks && options.wire !== "none" ? source.callTool : callUntasked,
    close: () => client.close(),
  };
};

const taskSource = (request: Request, options: TaskClientOptions): Omit<TaskSource, "close"> => {
  const lastSeen = new Map<string, Members>();
  const patiently: Request = (method, params, signal) =>
    retryWhileUnreachable(() => request(method, params, signal), options.onTrouble, signal);
  const readTask = async (taskId: string, signal?: AbortSignal): Promise<TaskStatus> => {
    const task = await patiently("tasks/get", { taskId }, signal);
    lastSeen.set(taskId, task);
    return toStatus(task);
  };

  return {
    flags: `--url ${shellWord(options.url.href)}`,
    callTool: async (tool, input, { ask, signal }) => {
      let params: Members = { name: tool, arguments: input };
      for (;;) {
        // Not repeated when the connection breaks: the pipeline may have been started.
        const result = await request("tools/call", params, signal);
        if (result["resultType"] === "task") return { kind: "task", task: toStatus(result) };
        if (result["resultType"] !== "input_required") return toImmediate(patiently, result);
        const answers = await ask(toQuestions(result["inputRequests"]));
        const inputResponses = toInputResponses(answers);
        params = { name: tool, arguments: input, inputResponses, requestState: result["requestState"] };
      }
    },
    readTask: (taskId) => readTask(taskId),
    nextStatus: async ({ taskId }, signal) => {
      const interval = Number(lastSeen.get(taskId)?.["pollIntervalMs"] ?? 0);
      await sleep(Math.max(interval, shortestPollMs), undefined, { signal });
      return readTask(taskId, signal);
    },
    readResult: async ({ taskId }) => {
      if (lastSeen.get(taskId)?.["result"] === undefined) await readTask(taskId);
      const result = (lastSeen.get(taskId)?.["result"] ?? {}) as Members;
      return toResult(patiently, result);
    },
    answerTask: async (taskId, answers) => {
      await patiently("tasks/update", { taskId, inputResponses: toInputResponses(answers) });
      return [];
    },
    cancelTask: async (taskId) => {
      await patiently("tasks/cancel", { taskId });
      return readTask(taskId);
    },
    listTasks: () => {
      throw usageError(
        `tasks list: ${protocolVersion} over --url cannot list tasks; use --config on the server's host`,
      );
    },
  };
};
