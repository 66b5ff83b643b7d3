import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { ConnectOptions, DriverKind } from "./task-driver.ts";
import { toGivenResult } from "./to-given-result.ts";

const timeout = 15_000;

/** A connected client of SDK 1, as it is. */
export const connectFirst = async ({ url, headers, onAsk }: ConnectOptions): Promise<Client> => {
  const client = new Client({ name: "chaos", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...onAsk(params.message) }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport);
  return client;
};

/** SDK 1 with the tasks of 2025-11-25. */
export const firstSdkClient: DriverKind = {
  name: "SDK 1, 2025-11-25",
  wire: "2025-11-25",
  cancelDeletes: false,
  reconnects: false,
  connect: async (options) => {
    const client = await connectFirst(options);
    const { tasks } = client.experimental;
    return {
      start: async (tool, args) => {
        const params = { name: tool, arguments: args, task: {} };
        const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema, { timeout });
        return { taskId: task.taskId };
      },
      poll: async (taskId) => {
        const { status } = await tasks.getTask(taskId, { timeout });
        const isOpen = status === "working" || status === "input_required";
        return { status: isOpen ? "open" : status === "cancelled" ? "cancelled" : "finished", questions: [] };
      },
      result: async (taskId) => toGivenResult(await tasks.getTaskResult(taskId, CallToolResultSchema, { timeout })),
      cancel: async (taskId) => (await tasks.cancelTask(taskId, { timeout })).status === "cancelled",
      list: async () => {
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await tasks.listTasks(cursor, { timeout });
          ids.push(...page.tasks.map((task) => task.taskId));
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        return ids;
      },
      close: () => client.close(),
    };
  },
};
