import { BridgeError } from "@taskbridge/core";
import type { ListenContext } from "./listen/open-subscription.ts";
import type { TaskServer } from "./task-server-options.ts";

const contexts = new WeakMap<TaskServer, ListenContext>();

/** Keeps what a server is made of, for whoever attaches it elsewhere. */
export const rememberContext = (server: TaskServer, context: ListenContext): TaskServer => {
  contexts.set(server, context);
  return server;
};

/** Throws `misconfigured` for anything that `createTaskServer` has not made. */
export const contextOf = (server: TaskServer, caller: string): ListenContext => {
  const context = typeof server === "object" && server !== null ? contexts.get(server) : undefined;
  if (context !== undefined) return context;
  throw new BridgeError("misconfigured", `${caller}: what createTaskServer() resolves with is needed`, {
    data: { path: "tasks" },
  });
};
