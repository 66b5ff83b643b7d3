import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

// A host in the sense of MCP: the official client, and beside it what the tasks extension adds.

const protocolVersion = "2026-07-28";
const extension = "io.modelcontextprotocol/tasks";
const clientInfo = { name: "housekeeping-client", version: "1.0.0" };
const capabilities = { elicitation: { form: {} } };
const requestTimeoutMs = 30_000;

/** What `tasks/get` answers. */
export interface Task {
  readonly taskId: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage?: string;
  readonly pollIntervalMs?: number;
  readonly inputRequests?: Readonly<Record<string, { readonly params: { readonly message: string } }>>;
  readonly result?: CallToolResult;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Person {
  /** Sees how the task goes on. */
  onStatus?(task: Task): void;
  /** Answers a question of the task. */
  onQuestion?(message: string): { readonly action: "accept" | "decline"; readonly content?: Record<string, unknown> };
}

export interface TaskHost {
  /** Calls a tool as a task and stays with it to its end. */
  callTool(name: string, input: Record<string, unknown>, person?: Person): Promise<CallToolResult>;
  /** A result too large for one answer, part by part. */
  readResource(uri: string): Promise<string>;
  close(): Promise<void>;
}

export const connectTaskHost = async (url: URL): Promise<TaskHost> => {
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: { pin: protocolVersion } } });
  const transport = new StreamableHTTPClientTransport(url);
  await client.connect(transport);
  if (client.getServerCapabilities()?.extensions?.[extension] === undefined) {
    throw new Error("the server does not offer the tasks extension");
  }
  const request = rawRequests(transport);
  return {
    callTool: async (name, input, person = {}) => {
      const created = (await request("tools/call", { name, arguments: input })) as Task & { resultType: string };
      if (created.resultType !== "task") return created as unknown as CallToolResult;
      return followTask(request, created, person);
    },
    readResource: async (uri) => {
      let text = "";
      for (let next: string | undefined = uri; next !== undefined; ) {
        const [part] = (await client.readResource({ uri: next })).contents;
        if (part === undefined || !("text" in part)) throw new Error(`${next} is no text`);
        text += part.text;
        next = part._meta?.["taskbridge/nextUri"] as string | undefined;
      }
      return text;
    },
    close: () => client.close(),
  };
};

type Request = (method: string, params: Record<string, unknown>) => Promise<unknown>;

const followTask = async (request: Request, created: Task, person: Person): Promise<CallToolResult> => {
  const { taskId } = created;
  for (let task = created; ; task = (await request("tasks/get", { taskId })) as Task) {
    person.onStatus?.(task);
    if (task.status === "completed" && task.result !== undefined) return task.result;
    if (task.status === "failed" || task.status === "cancelled") throw new Error(task.error?.message ?? task.status);
    const questions = Object.entries(task.inputRequests ?? {});
    if (questions.length > 0) {
      const answers = questions.map(([key, { params }]) => [
        key,
        person.onQuestion?.(params.message) ?? { action: "decline" },
      ]);
      await request("tasks/update", { taskId, inputResponses: Object.fromEntries(answers) });
    }
    await sleep(task.pollIntervalMs ?? 1_000);
  }
};

type Answer = { readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } };

/** The official client refuses results of type `task`, so requests that may get one go through its transport. */
const rawRequests = (transport: Transport): Request => {
  const waiting = new Map<unknown, (answer: Answer) => void>();
  const forward = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = "id" in message && !("method" in message) ? waiting.get(message.id) : undefined;
    if (settle === undefined) forward?.(message, extra);
    else settle(message as Answer);
  };
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: protocolVersion,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: { ...capabilities, extensions: { [extension]: {} } },
  };
  let sent = 0;

  return async (method, params) => {
    const id = `raw-${++sent}`;
    const requestSignal = AbortSignal.timeout(requestTimeoutMs);
    const { result, error } = await new Promise<Answer>((resolve, reject) => {
      waiting.set(id, resolve);
      requestSignal.addEventListener("abort", () => reject(requestSignal.reason), { once: true });
      const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta } } as JSONRPCMessage;
      transport.send(message, { requestSignal }).catch(reject);
    }).finally(() => waiting.delete(id));
    if (error !== undefined) throw new Error(`${method}: ${error.message} (${error.code})`);
    return result;
  };
};
