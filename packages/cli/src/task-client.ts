import { setTimeout as sleep } from "node:timers/promises";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type ClientCapabilities,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ExecutionProgress, JsonObject, JsonValue, TaskState } from "@taskbridge/core";
import { CliError, exitCodes, usageError } from "./cli-error.ts";
import type { Answers, CallOptions, CallOutcome, Question, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { version } from "./version.ts";

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

const protocolVersion = "2026-07-28";
const extension = "io.modelcontextprotocol/tasks";
const clientInfo = { name: "taskbridge", version };
const capabilities: ClientCapabilities = { elicitation: { form: {} } };
const requestTimeoutMs = 60_000;
/** An untasked call of ours lasts 45 s at most; other servers may take longer. */
const untaskedTimeoutMs = 600_000;
/** A server that restarts is back within this time. */
const patienceMs = 120_000;
const shortestPollMs = 100;

type Members = Record<string, unknown>;

/** Connects to an MCP server over HTTP, through the tasks extension where wanted and there. */
export const connectTaskClient = async (options: TaskClientOptions): Promise<TaskSource> => {
  let ask: CallOptions["ask"] | undefined;
  const client = new Client(clientInfo, {
    capabilities,
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
    client.getServerCapabilities()?.extensions?.[extension] !== undefined;
  if (options.wire === protocolVersion && !hasTasks) {
    await client.close();
    throw new CliError(`${options.url}: the server does not offer the tasks extension of ${protocolVersion}`);
  }
  const request = taskRequests(transport, options);
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

type Request = (method: string, params: Members, signal?: AbortSignal) => Promise<Members>;

const taskSource = (request: Request, options: TaskClientOptions): Omit<TaskSource, "close"> => {
  const lastSeen = new Map<string, Members>();
  const patiently: Request = (method, params, signal) =>
    retryWhileUnreachable(() => request(method, params, signal), options, signal);
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

/** A request that the server has answered with an error. */
class RpcError extends CliError {
  override readonly name: string = "RpcError";
}

/** Requests that declare the extension, sent through the SDK's transport past its client. */
const taskRequests = (transport: Transport, { url }: TaskClientOptions): Request => {
  const pending = new Map<unknown, (message: Members) => void>();
  const forward = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = "id" in message && !("method" in message) ? pending.get(message.id) : undefined;
    if (settle === undefined) forward?.(message, extra);
    else settle(message as Members);
  };
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: protocolVersion,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: { ...capabilities, extensions: { [extension]: {} } },
  };
  let sent = 0;

  return async (method, params, signal) => {
    const id = `taskbridge-${++sent}`;
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const requestSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    try {
      const answer = await new Promise<Members>((resolve, reject) => {
        pending.set(id, resolve);
        requestSignal.addEventListener("abort", () => reject(requestSignal.reason), { once: true });
        const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta } } as JSONRPCMessage;
        const onRequestStreamEnd = (): void => reject(new Error("the connection was closed before the answer"));
        transport.send(message, { requestSignal, onRequestStreamEnd }).catch(reject);
      });
      if (answer["error"] !== undefined) throw toRpcError(method, answer["error"] as Members);
      return answer["result"] as Members;
    } catch (error) {
      throw toCliError(error, url, method);
    } finally {
      pending.delete(id);
    }
  };
};

const toRpcError = (method: string, { code, message, data }: Members): RpcError => {
  const details = data === undefined ? "" : ` ${JSON.stringify(data)}`;
  const isUsage = code === -32602 && method === "tools/call";
  return new RpcError(`${message} (${code})${details}`, isUsage ? exitCodes.usage : exitCodes.failed);
};

/** The server could not be asked, and may be back soon. */
class Unreachable extends CliError {
  override readonly name: string = "Unreachable";
}

const toCliError = (error: unknown, url: URL, method = "connect"): Error => {
  if (error instanceof CliError) return error;
  if (!(error instanceof Error)) return new CliError(`${url}: ${String(error)}`);
  if (error.message === "interrupted") return error;
  if (error instanceof SdkHttpError) return toHttpError(error, url, method);
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  const reason = cause?.code ?? cause?.message;
  return new Unreachable(`${url}: ${error.message}${reason === undefined ? "" : ` (${reason})`}`, exitCodes.failed, {
    cause: error,
  });
};

const toHttpError = (error: SdkHttpError, url: URL, method: string): CliError => {
  const { status, text } = error.data as { status?: number; text?: string | null };
  if (status === 401)
    return new CliError(`${url}: a token is needed, or this one is not accepted: --token or TASKBRIDGE_TOKEN`);
  if (status !== undefined && (status >= 500 || status === 429)) return new Unreachable(`${url}: HTTP ${status}`);
  const body = parseJson(text ?? "");
  const known = (body as Members | undefined)?.["error"];
  return typeof known === "object" && known !== null
    ? toRpcError(method, known as Members)
    : new CliError(`${url}: HTTP ${status}: ${(text ?? "").slice(0, 200)}`);
};

const retryWhileUnreachable = async <T>(
  action: () => Promise<T>,
  { onTrouble }: TaskClientOptions,
  signal?: AbortSignal,
): Promise<T> => {
  const startedAt = Date.now();
  for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    try {
      return await action();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Unreachable) || Date.now() - startedAt > patienceMs) throw error;
      if (pauseMs === 250) onTrouble(`${error.message}; trying again …`);
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }
};

const states: Readonly<Record<string, TaskState>> = {
  working: "running",
  input_required: "waiting",
  completed: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

const toStatus = (task: Members): TaskStatus => {
  const result = task["result"] as Members | undefined;
  const hasFailed = result?.["isError"] === true;
  const state = hasFailed ? "failed" : (states[String(task["status"])] ?? "running");
  const message = task["statusMessage"];
  const progress = state === "running" && typeof message === "string" ? parseProgress(message) : undefined;
  const createdAt = Date.parse(String(task["createdAt"]));
  const updatedAt = Date.parse(String(task["lastUpdatedAt"]));
  const ttlMs = task["ttlMs"];
  return {
    taskId: String(task["taskId"]),
    state,
    ...(typeof message === "string" && progress === undefined ? { message } : {}),
    ...(progress === undefined ? {} : { progress }),
    questions: state === "waiting" ? toQuestions(task["inputRequests"]) : [],
    ...(state === "failed" ? { failure: toFailure(task) } : {}),
    createdAt,
    updatedAt,
    ...(typeof ttlMs === "number" ? { expiresAt: createdAt + ttlMs } : {}),
  };
};

/** The wire has no place for numbers, so servers of ours tell progress as `3 of 10: message`. */
const parseProgress = (message: string): ExecutionProgress | undefined => {
  const [, done, total, rest] = /^(\d+(?:\.\d+)?)(?: of (\d+(?:\.\d+)?))?(?:: (.*))?$/s.exec(message) ?? [];
  if (done === undefined) return undefined;
  return {
    done: Number(done),
    ...(total === undefined ? {} : { total: Number(total) }),
    ...(rest === undefined ? {} : { message: rest }),
  };
};

const toFailure = (task: Members): { reason: string; detail?: string } => {
  const error = task["error"] as Members | undefined;
  if (error !== undefined) return { reason: String(error["message"]) };
  const [reason = "failed", ...detail] = textsOf(task["result"] as Members);
  return detail.length === 0 ? { reason } : { reason, detail: detail.join("\n") };
};

const toQuestions = (requests: unknown): readonly Question[] =>
  Object.entries((requests ?? {}) as Record<string, Members>).map(([key, request]) => toQuestion(key, request));

const toQuestion = (key: string, request: Members): Question => {
  const { message, requestedSchema, url } = (request["params"] ?? {}) as Members;
  return {
    key,
    message: String(message),
    ...(requestedSchema === undefined ? {} : { schema: requestedSchema as JsonObject }),
    ...(typeof url === "string" ? { url } : {}),
  };
};

const toInputResponses = (answers: Answers): Members =>
  Object.fromEntries(Object.entries(answers).map(([key, answer]) => [key, toElicitResult(answer)]));

const toElicitResult = (answer: Answers[string] | undefined): Members => {
  if (answer === undefined) return { action: "cancel" };
  return answer.content === undefined ? { action: answer.action } : { action: answer.action, content: answer.content };
};

const toImmediate = async (request: Request, result: Members): Promise<CallOutcome> => ({
  kind: "result",
  result: await toResult(request, result),
  failed: result["isError"] === true,
});

const toResult = async (request: Request, result: Members): Promise<TaskResult> => {
  const address = (result["structuredContent"] as Members | undefined)?.["resultUri"];
  if (typeof address === "string") return readWhole(request, address);
  const text = textsOf(result).join("\n");
  const json = (result["structuredContent"] as JsonValue | undefined) ?? parseJson(text);
  return json === undefined ? { text } : { text, json };
};

const textsOf = (result: Members | undefined): readonly string[] =>
  ((result?.["content"] ?? []) as Members[]).map(({ type, text, uri }) =>
    type === "text" ? String(text) : `[${type}${uri === undefined ? "" : ` ${uri}`}]`,
  );

/** A result too large for one answer: each part names the address of the next. */
const readWhole = async (request: Request, address: string): Promise<TaskResult> => {
  const parts: string[] = [];
  for (let uri: string | undefined = address; uri !== undefined; ) {
    const answer = await request("resources/read", { uri });
    const [content = {}] = answer["contents"] as Members[];
    parts.push(String(content["text"] ?? ""));
    uri = (content["_meta"] as Record<string, string> | undefined)?.["taskbridge/nextUri"];
  }
  const text = parts.join("");
  const json = parseJson(text);
  return json === undefined ? { text } : { text, json };
};

const parseJson = (text: string): JsonValue | undefined => {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};
