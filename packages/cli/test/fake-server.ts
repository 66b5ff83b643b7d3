import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Members = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly method: string;
  readonly params: Members;
}

/** A server of somebody else, with the tasks of 2025-11-25 and one tool `job`: it answers what a test wants. */
export interface FakeServer {
  readonly url: string;
  /** What has arrived, in its order. */
  readonly sent: readonly Sent[];
  /** Resolves with the first message of this method. */
  sees(method: string): Promise<Sent>;
  close(): Promise<void>;
}

export interface FakeAnswers {
  /** Members of every task. */
  readonly task?: Members;
  /** Answers instead: members of a JSON-RPC answer, or undefined for the usual one. May wait, also for ever. */
  answer?(message: Sent, task: Members): Promise<Members | undefined> | Members | undefined;
  readonly capabilities?: Members;
  /** Takes no request at present: HTTP 503 without an ID, before anything is done. */
  isUnavailable?(message: Sent): boolean;
}

export const fakeServer = async (answers: FakeAnswers = {}): Promise<FakeServer> => {
  const sent: Sent[] = [];
  const watchers = new Map<string, ((message: Sent) => void)[]>();
  const now = new Date(0).toISOString();
  const task: Members = {
    taskId: "T1",
    status: "working",
    createdAt: now,
    lastUpdatedAt: now,
    ttl: 60_000,
    pollInterval: 20,
    ...answers.task,
  };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method, params = {} } = JSON.parse(body) as { id?: unknown; method: string; params?: Members };
    const message = { method, params };
    sent.push(message);
    for (const seen of watchers.get(method) ?? []) seen(message);
    if (answers.isUnavailable?.(message) === true) {
      const error = { code: -32_600, message: "The server is being stopped", data: { retryAfterMs: 10 } };
      const body = JSON.stringify({ jsonrpc: "2.0", error });
      return void response.writeHead(503, { "content-type": "application/json" }).end(body);
    }
    const answer = (await answers.answer?.(message, task)) ?? usualAnswer(method, task, answers);
    if (id === undefined) response.writeHead(202).end();
    else writeJson(response, { jsonrpc: "2.0", id, ...answer });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sent,
    sees: (method) =>
      new Promise((resolve) => {
        const first = sent.find((message) => message.method === method);
        if (first !== undefined) resolve(first);
        else watchers.set(method, [...(watchers.get(method) ?? []), resolve]);
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const methodUnknown = { error: { code: -32_601, message: "Method not found" } };

const usualAnswer = (method: string, task: Members, { capabilities }: FakeAnswers): Members => {
  if (method.startsWith("tasks/") && capabilities !== undefined && !("tasks" in capabilities)) return methodUnknown;
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: capabilities ?? {
            tools: {},
            tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
          },
          serverInfo: { name: "fake", version: "1" },
        },
      };
    case "tools/list":
      return {
        result: { tools: [{ name: "job", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }] },
      };
    case "tools/call":
      return { result: { task } };
    case "tasks/get":
      return { result: task };
    case "tasks/result":
      return { result: { content: [{ type: "text", text: "fine" }] } };
    case "tasks/list":
      return { result: { tasks: [task] } };
    default:
      return methodUnknown;
  }
};

const writeJson = (response: ServerResponse, body: Members): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};
