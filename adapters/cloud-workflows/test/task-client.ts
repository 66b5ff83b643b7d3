/** What a task is to a client of 2026-07-28. */
export interface SeenTask {
  readonly taskId: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage?: string;
  readonly pollIntervalMs?: number;
  readonly result?: {
    readonly content: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
  };
  readonly inputRequests?: Readonly<Record<string, { readonly params: Readonly<Record<string, unknown>> }>>;
}

/** An answer of JSON-RPC. */
export interface Answer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

/** A client of 2026-07-28 with the tasks extension, by hand: the SDK's own does not show every frame as it comes. */
export interface TaskClient {
  request(method: string, params?: Record<string, unknown>): Promise<Answer>;
  /** Calls a tool for a task. Throws with the answer when it becomes none. */
  start(tool: string, input?: object): Promise<SeenTask>;
  get(taskId: string): Promise<SeenTask>;
  /** Hears of tasks until all have ended, `stop` fires, or the server ends the stream. */
  listen(taskIds: readonly string[], observe: (task: SeenTask, at: number) => void, stop?: AbortSignal): Promise<void>;
}

const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
};

let requests = 0;

const toMessages = (text: string): readonly Record<string, unknown>[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: ") || line.startsWith("{"))
    .map((line) => JSON.parse(line.replace(/^data: /, "")) as Record<string, unknown>);

export const taskClient = (url: string): TaskClient => {
  const post = (method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<Response> => {
    const name = params.name ?? params.taskId ?? params.uri;
    return fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++requests, method, params: { ...params, _meta: meta } }),
      ...(signal === undefined ? {} : { signal }),
    });
  };
  const request: TaskClient["request"] = async (method, params = {}) =>
    (toMessages(await (await post(method, params)).text()).at(-1) ?? {}) as Answer;
  const toTask = (answer: Answer): SeenTask => {
    if (typeof answer.result?.taskId === "string") return answer.result as unknown as SeenTask;
    throw new Error(`no task: ${JSON.stringify(answer)}`);
  };
  return {
    request,
    start: async (name, input = {}) => toTask(await request("tools/call", { name, arguments: input })),
    get: async (taskId) => toTask(await request("tasks/get", { taskId })),
    listen: async (taskIds, observe, stop) => {
      const response = await post("subscriptions/listen", { notifications: { taskIds } }, stop);
      const decoder = new TextDecoder();
      let text = "";
      try {
        for await (const chunk of response.body ?? []) {
          const at = Date.now();
          text += decoder.decode(chunk as Uint8Array, { stream: true });
          const frames = text.split("\n\n");
          text = frames.pop() ?? "";
          for (const { method, params } of frames.flatMap(toMessages))
            if (method === "notifications/tasks") observe(params as SeenTask, at);
        }
      } catch (error) {
        if (stop?.aborted !== true) throw error;
      }
    },
  };
};
