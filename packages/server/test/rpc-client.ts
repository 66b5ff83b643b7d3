/** JSON-RPC over HTTP by hand: what goes over the wire is what a test says. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Everything that came, the answer last. */
  readonly messages: readonly Message[];
  readonly result: Record<string, unknown>;
  readonly error: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export interface RequestOptions {
  /** Declares the tasks extension. Default true. */
  readonly tasks?: boolean;
  readonly capabilities?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  /** Undefined takes a header out. */
  readonly headers?: Record<string, string | undefined>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly id?: string | number;
}

export type RpcClient = (method: string, params?: Record<string, unknown>, options?: RequestOptions) => Promise<Answer>;

export const extension = "io.modelcontextprotocol/tasks";
export const version = "2026-07-28";

let requests = 0;

export const toRequest = (
  method: string,
  params: Record<string, unknown> = {},
  options: RequestOptions = {},
): Message => ({
  jsonrpc: "2.0",
  id: options.id ?? ++requests,
  method,
  params: {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {
        ...options.capabilities,
        ...(options.tasks === false ? {} : { extensions: { [extension]: {} } }),
      },
      ...options.meta,
    },
  },
});

export const post = (
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: RequestOptions = {},
): Promise<Response> => {
  const name = params.name ?? params.taskId ?? params.uri;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...options.headers,
  };
  return fetch(url, {
    method: "POST",
    headers: Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    body: options.body ?? JSON.stringify(toRequest(method, params, options)),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
};

export const rpcClient =
  (url: string): RpcClient =>
  async (method, params, options) => {
    const response = await post(url, method, params, options);
    const messages = readMessages(await response.text());
    const last = messages.at(-1);
    const missing = { code: 0, message: "there is no error" };
    return {
      status: response.status,
      headers: response.headers,
      messages,
      result: last?.result ?? {},
      error: last?.error ?? missing,
    };
  };

const readMessages = (text: string): readonly Message[] => {
  if (text.startsWith("{")) return [JSON.parse(text) as Message];
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Message);
};

/** The ID of the task that a call has become. */
export const callForTask = async (rpc: RpcClient, name = "job", options: RequestOptions = {}): Promise<string> => {
  const { result } = await rpc("tools/call", { name, arguments: {} }, options);
  if (typeof result.taskId !== "string") throw new Error(`no task: ${JSON.stringify(result)}`);
  return result.taskId;
};
