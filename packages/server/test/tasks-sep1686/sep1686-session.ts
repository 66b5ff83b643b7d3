import type { Authenticator } from "../../src/index.ts";
import { type MessageStream, type Rpc2025, type RpcOptions2025, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { type Served, type ServeOptions, serve } from "../serve.ts";

/** With the draft beside everything else. */
export const wires: NonNullable<ServeOptions["wires"]> = ["2026-07-28", "2025-11-25", "sep-1686", "none"];

/** The last revision that knows no tasks of its own. */
export const revision = "2025-06-18";

export const related = (taskId: string): Record<string, unknown> => ({
  "modelcontextprotocol.io/related-task": { taskId },
});

export interface Sep1686Rpc extends Rpc2025 {
  /** Sends a call that becomes a task, and leaves its stream open. */
  call(taskId: unknown, more?: CallOptions): Promise<MessageStream>;
  /** Resolves when the task can be read by this ID. */
  begin(taskId: string, more?: CallOptions): Promise<MessageStream>;
  get(taskId: unknown): ReturnType<Rpc2025["request"]>;
  statusOf(taskId: string): Promise<unknown>;
}

export interface CallOptions {
  /** Of the JSON-RPC request. */
  readonly id?: string | number;
  readonly name?: string;
  readonly args?: Record<string, unknown>;
  /** Beside the ID. */
  readonly mark?: Record<string, unknown>;
  /** Beside the mark. */
  readonly meta?: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

export const sep1686Rpc = async (url: string, options: RpcOptions2025 = {}): Promise<Sep1686Rpc> => {
  const rpc = await rpc2025(url, { revision, ...options });
  const call: Sep1686Rpc["call"] = (taskId, { id, name = "job", args = {}, mark, meta, params } = {}) =>
    rpc.open(
      "tools/call",
      { name, arguments: args, ...params, _meta: { ...meta, "modelcontextprotocol.io/task": { taskId, ...mark } } },
      id === undefined ? {} : { id },
    );
  const get: Sep1686Rpc["get"] = (taskId) => rpc.request("tasks/get", { taskId });
  return {
    ...rpc,
    call,
    get,
    begin: async (taskId, more) => {
      const stream = await call(taskId, more);
      await stream.find(isCreated);
      return stream;
    },
    statusOf: async (taskId) => (await get(taskId)).result.status,
  };
};

export const isCreated = ({ method }: Message): boolean => method === "notifications/tasks/created";

/** The answer to a call, whatever it is. */
export const isAnswer = ({ method }: Message): boolean => method === undefined;

export const answerOf = (stream: MessageStream): Promise<Message> => stream.find(isAnswer);

/** A server with the draft, and a client of it. */
export const open = async ({
  session,
  ...options
}: ServeOptions & { readonly session?: RpcOptions2025 } = {}): Promise<Served & { readonly draft: Sep1686Rpc }> => {
  const served = await serve({ wires, ...options });
  return { ...served, draft: await sep1686Rpc(served.url, session) };
};

/** A token is its caller's name. */
export const auth: Authenticator = {
  authenticate: async ({ authorization = "" }) => {
    const [, subject] = authorization.split(" ");
    return subject === undefined ? { refused: { description: "who?" } } : { identity: { issuer: "test", subject } };
  },
};

export const bearer = (name: string): { readonly headers: Record<string, string> } => ({
  headers: { authorization: `Bearer ${name}` },
});
