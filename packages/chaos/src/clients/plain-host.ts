import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connectFirst } from "./first-sdk-client.ts";
import type { ConnectOptions, DriverKind, PollResult, TaskDriver } from "./task-driver.ts";
import { textsOf, toGivenResult } from "./to-given-result.ts";

const timeout = 20_000;

interface Answered {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

/** A tool has answered that it knows no such task. What it then says of the caller's own tasks is left out. */
export class UnknownTaskError extends Error {}

/** A host that knows no tasks: it has the companion tools. */
const plainHost = (
  name: string,
  connect: (options: ConnectOptions) => Promise<{
    callTool(tool: string, args: Readonly<Record<string, unknown>>): Promise<object>;
    close(): Promise<void>;
  }>,
): DriverKind => ({
  name,
  wire: "none",
  cancelDeletes: false,
  reconnects: false,
  connect: async (options) => {
    const host = await connect(options);
    const askAbout = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<Answered> => {
      const answer: Answered = await host.callTool(tool, args);
      const [first = ""] = textsOf(answer.content);
      if (answer.isError === true && /not found/i.test(first))
        throw new UnknownTaskError(first.replace(/\. (You|Take).*/s, ""));
      return answer;
    };
    const driver: TaskDriver = {
      start: async (tool, args) => {
        const answer = await host.callTool(tool, args);
        const taskId = handleOf(answer)?.taskId;
        return taskId === undefined ? { result: toGivenResult(answer) } : { taskId };
      },
      poll: async (taskId) => toInspection(await askAbout("task_status", { taskId })),
      result: async (taskId) => {
        const answer = await askAbout("task_status", { taskId, waitSeconds: 5 });
        return handleOf(answer) === undefined ? toGivenResult(answer) : undefined;
      },
      cancel: async (taskId) => {
        await askAbout("task_cancel", { taskId });
        return false;
      },
      close: host.close,
    };
    return driver;
  },
});

const handleOf = ({
  structuredContent,
}: Answered): { readonly taskId: string; readonly taskStatus: string } | undefined => {
  const { taskId, taskStatus } = (structuredContent ?? {}) as { taskId?: string; taskStatus?: string };
  return taskId === undefined || taskStatus === undefined ? undefined : { taskId, taskStatus };
};

const toInspection = (answer: Answered): PollResult => {
  if (handleOf(answer) !== undefined) return { status: "open", questions: [] };
  const [first = ""] = textsOf(answer.content);
  if (/^Task \S+ of \S+ was cancelled/.test(first)) return { status: "cancelled", questions: [] };
  return { status: "finished", questions: [], result: toGivenResult(answer) };
};

/** On SDK 1, with a person who can be asked. */
export const firstPlainHost: DriverKind = plainHost("SDK 1, no tasks", async (options) => {
  const client = await connectFirst(options);
  return {
    callTool: (tool, args) => client.callTool({ name: tool, arguments: { ...args } }, undefined, { timeout }),
    close: () => client.close(),
  };
});

/** On SDK 2 and 2026-07-28, without the extension and with nobody to ask. */
export const secondPlainHost: DriverKind = plainHost("SDK 2, no tasks", async ({ url, headers }) => {
  const client = new Client({ name: "chaos", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }));
  return {
    callTool: (tool, args) => client.callTool({ name: tool, arguments: { ...args } }, { timeout }),
    close: () => client.close(),
  };
});
