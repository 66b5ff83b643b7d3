import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { atEnd } from "./serve.ts";

type Members = Record<string, unknown>;

export interface Sep1686ServerOptions {
  /** Whether it knows tasks; otherwise it ignores the mark. Default true. */
  readonly tasks?: boolean;
  /** When the task is told. Default at once. */
  readonly notice?: "at once" | "after the answer" | "lost";
  /** Whether the call itself is answered. Default true. */
  readonly answers?: boolean;
  /** Jobs end by themselves. Default false: `finish` does it. */
  readonly instant?: boolean;
  /** The connection of the first call breaks: before anything is started, or after. */
  readonly breaks?: "before the start" | "after the start";
  /** The first looks that miss the task though it is there. */
  readonly misses?: number;
}

/** A server of the SEP-1686 draft, or one without tasks, written by hand so that it can be as bad as a test needs. */
export interface Sep1686Server {
  readonly url: string;
  /** How many jobs were started. */
  executions(): number;
  /** All requests and notifications, by method. */
  readonly received: readonly Members[];
  finish(): void;
}

export const sep1686Server = async (options: Sep1686ServerOptions = {}): Promise<Sep1686Server> => {
  const { tasks = true, notice = "at once", answers = true, instant = false, breaks } = options;
  const known = new Map<string, string>();
  const open: (() => void)[] = [];
  const received: Members[] = [];
  let misses = options.misses ?? 0;
  let executions = 0;
  let calls = 0;

  const call = (id: unknown, params: Members, socket: ServerResponse): void => {
    const isFirst = ++calls === 1;
    if (isFirst && breaks === "before the start") {
      socket.destroy();
      return;
    }
    const mark = ((params["_meta"] as Members | undefined)?.["modelcontextprotocol.io/task"] ?? {}) as Members;
    const taskId = String(mark["taskId"]);
    if (tasks && known.has(taskId)) {
      const error = { code: -32_602, message: `Task ID already exists: ${taskId}` };
      sendJson(socket, { jsonrpc: "2.0", id, error });
      return;
    }
    executions++;
    if (tasks) known.set(taskId, "working");
    if (isFirst && breaks === "after the start") {
      open.push(() => void known.set(taskId, "completed"));
      socket.destroy();
      return;
    }
    socket.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const send = (message: Members): void =>
      void socket.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    const created = { method: "notifications/tasks/created", params: { _meta: related(taskId) } };
    if (tasks && notice === "at once") send(created);
    const finish = (): void => {
      if (tasks) known.set(taskId, "completed");
      if (answers) send({ id, result });
      if (tasks && notice === "after the answer") send(created);
    };
    if (instant) finish();
    else open.push(finish);
  };

  const answer = (id: unknown, method: string, params: Members): Members => {
    const message = { jsonrpc: "2.0", id };
    if (method === "initialize") {
      return {
        ...message,
        result: {
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "draft", version: "1" },
        },
      };
    }
    if (!tasks || !method.startsWith("tasks/")) {
      return { ...message, error: { code: -32_601, message: "Method not found" } };
    }
    const taskId = String(params["taskId"]);
    const status = misses > 0 ? undefined : known.get(taskId);
    if (misses > 0 && method === "tasks/get") misses--;
    if (status === undefined) {
      return { ...message, error: { code: -32_602, message: "Failed to retrieve task: Task not found" } };
    }
    if (method === "tasks/result") return { ...message, result };
    if (method === "tasks/delete") known.delete(taskId);
    return { ...message, result: { taskId, status, keepAlive: 60_000, pollFrequency: 10 } };
  };

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(await textOf(request)) as Members & { method: string; params?: Members };
    received.push(message);
    if (message["id"] === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/call") call(message["id"], message.params ?? {}, response);
    else sendJson(response, answer(message["id"], message.method, message.params ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    executions: () => executions,
    received,
    finish: () => {
      for (const end of open.splice(0)) end();
    },
  };
};

const result = { content: [{ type: "text", text: '{"done":true}' }], isError: false };

const related = (taskId: string): Members => ({ "modelcontextprotocol.io/related-task": { taskId } });

const sendJson = (response: ServerResponse, message: Members): void =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};
