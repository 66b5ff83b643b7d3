import { setTimeout as pause } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  isOver,
  isTaskClientError,
  type PendingCall,
  type TaskClient,
  type TaskStatus,
  taskClient,
  type WireName,
} from "@taskbridge/client";
import type { SeenStatus } from "./ledger.ts";
import type { ConnectOptions, DriverKind, TaskDriver } from "./task-driver.ts";
import { toGivenResult } from "./to-given-result.ts";

/** A result is waited for so long. */
const waitMs = 8_000;

/** `@taskbridge/client` on an SDK 2 client, on one of the wires with tasks. */
export const ourClient = (wire: Exclude<WireName, "none">): DriverKind => ({
  name: `@taskbridge/client, ${wire}`,
  wire,
  cancelDeletes: wire === "sep-1686",
  reconnects: true,
  connect: async (options) => {
    const connect = (): Promise<Client> => connectSdk(options, wire === "2026-07-28" ? "auto" : "legacy");
    const client = await connect();
    return toDriver(taskClient(client, { wire, reconnect: connect }), wire, options, () => client.close());
  },
});

const connectSdk = async ({ url, headers }: ConnectOptions, mode: "auto" | "legacy"): Promise<Client> => {
  const client = new Client(
    { name: "chaos", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
};

const toDriver = (
  calls: TaskClient,
  wire: WireName,
  { onAsk }: ConnectOptions,
  closeClient: () => Promise<void>,
): TaskDriver => {
  const pending = new Map<string, PendingCall>();
  /** On the 2025 wires the server asks whoever waits. */
  const asks =
    wire === "2026-07-28" ? {} : { onQuestion: ({ message }: { readonly message: string }) => onAsk(message) };
  return {
    start: async (tool, args) => {
      const call = calls.beginCall(tool, args, asks);
      // What becomes of it is asked for by `result`.
      call.result().catch(() => {});
      const taskId = await call.created;
      if (taskId === undefined) return { result: toGivenResult(await call.result()) };
      pending.set(taskId, call);
      return { taskId };
    },
    poll: async (taskId) => {
      const task = await calls.read(taskId);
      return {
        status: toSeen(task.status),
        questions: wire === "2026-07-28" ? task.questions : [],
        ...(task.result === undefined ? {} : { result: toGivenResult(task.result) }),
      };
    },
    result: async (taskId) => {
      const call = pending.get(taskId) ?? calls.resume(taskId, asks);
      pending.set(taskId, call);
      const given = await Promise.race([call.result(), pause(waitMs, undefined, { ref: false })]);
      return given === undefined ? undefined : toGivenResult(given);
    },
    cancel: async (taskId) => {
      const call = pending.get(taskId) ?? calls.resume(taskId);
      await call.cancel();
      // On the other wires it is over only once it is seen to be.
      if (wire !== "2025-11-25") return false;
      return call.result().then(
        () => false,
        (error: unknown) => isTaskClientError(error, "cancelled"),
      );
    },
    ...(wire === "2026-07-28"
      ? { answer: async (taskId, key, reply) => void (await calls.answer(taskId, { [key]: reply })) }
      : { list: () => listAll(calls) }),
    close: async () => {
      await calls.close();
      await closeClient();
    },
  };
};

const toSeen = (status: TaskStatus): Exclude<SeenStatus, "not found"> => {
  if (status === "cancelled") return "cancelled";
  return isOver({ status } as Parameters<typeof isOver>[0]) ? "finished" : "open";
};

const listAll = async (calls: TaskClient): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { taskId } of calls.list()) ids.push(taskId);
  return ids;
};
