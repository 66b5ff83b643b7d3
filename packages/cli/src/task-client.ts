import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@taskbridge/core";
import { CliError, usageError } from "./cli-error.ts";
import { type LegacySourceOptions, legacySource, requireLegacySource } from "./legacy-source.ts";
import type { CallOptions, CallOutcome, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { legacyVersion } from "./wire/legacy-session.ts";
import type { Members } from "./wire/members.ts";
import { openConnection } from "./wire/open-connection.ts";
import {
  extensionMeta,
  protocolVersion,
  type Request,
  retryWhileUnreachable,
  taskRequests,
  tasksExtension,
  toCliError,
  Unreachable,
} from "./wire/task-requests.ts";
import { toInputResponses, toQuestion, toQuestions } from "./wire/to-questions.ts";
import { textsOf, toImmediate, toResult } from "./wire/to-result.ts";
import { toStatus } from "./wire/to-status.ts";
import type { CallWire } from "./wire/wire-names.ts";

// All that the CLI needs of an MCP client. The SDK's client refuses task results, so calls go through its transport.

export interface TaskClientOptions extends LegacySourceOptions {
  readonly wire: CallWire;
}

/** An untasked call of ours lasts 45 s at most; other servers may take longer. */
const untaskedTimeoutMs = 600_000;
const shortestPollMs = 100;

/** Connects to an MCP server over HTTP, through the tasks extension where wanted and there. */
export const connectTaskClient = async (options: TaskClientOptions): Promise<TaskSource> => {
  if (options.wire === legacyVersion) return requireLegacySource(options);
  let ask: CallOptions["ask"] | undefined;
  const connection = await openConnection(options, {
    mode: options.wire === protocolVersion ? { pin: protocolVersion } : "auto",
    elicit: async (params) => (await ask?.([toQuestion("question", { params })]))?.["question"],
  });
  const { client, transport } = connection;
  const isModern = client.getNegotiatedProtocolVersion() === protocolVersion;
  const { extensions, tasks } = client.getServerCapabilities() ?? {};
  const hasTasks = isModern && extensions?.[tasksExtension] !== undefined;
  if (options.wire === "auto" && !hasTasks && (isModern || tasks !== undefined)) {
    const legacy = await legacySourceIfOffered(options);
    if (legacy !== undefined) {
      await connection.close();
      return legacy;
    }
  }
  if (options.wire === protocolVersion && !hasTasks) {
    await connection.close();
    throw new CliError(`${options.url}: the server does not offer the tasks extension of ${protocolVersion}`);
  }
  const request = taskRequests(transport, options.url, extensionMeta);
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
    close: connection.close,
  };
};

/** A server may speak both revisions and have tasks in the older one only. */
const legacySourceIfOffered = async (options: TaskClientOptions): Promise<TaskSource | undefined> => {
  try {
    return await legacySource(options);
  } catch (error) {
    // It does not speak the older revision.
    if (error instanceof CliError && !(error instanceof Unreachable)) return undefined;
    throw error;
  }
};

const taskSource = (request: Request, options: TaskClientOptions): Omit<TaskSource, "close"> => {
  const lastSeen = new Map<string, Members>();
  const patiently: Request = (method, params, limits) =>
    retryWhileUnreachable(() => request(method, params, limits), options.onTrouble, limits?.signal);
  const readTask = async (taskId: string, signal?: AbortSignal): Promise<TaskStatus> => {
    const task = await patiently("tasks/get", { taskId }, signal === undefined ? {} : { signal });
    lastSeen.set(taskId, task);
    return toStatus(task);
  };

  return {
    flags: `--url ${shellWord(options.url.href)}`,
    answeredBy: "command",
    callTool: async (tool, input, { ask, signal }) => {
      let params: Members = { name: tool, arguments: input };
      for (;;) {
        // Not repeated when the connection breaks: the pipeline may have been started.
        const result = await request("tools/call", params, { signal });
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
        `tasks list: ${protocolVersion} over --url cannot list tasks; use --wire ${legacyVersion} where the server has it, or --config on the server's host`,
      );
    },
  };
};
