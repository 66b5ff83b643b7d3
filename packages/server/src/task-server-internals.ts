import { BridgeError } from "@taskbridge/core";
import type { ListenContext } from "./listen/open-subscription.ts";
import type { TaskServer } from "./task-server-options.ts";

/** What a server is made of, for whoever attaches it elsewhere. */
export interface TaskServerInternals extends ListenContext {
  /** Closes the server unless it serves clients of its own. */
  closeUnlessServing(): void;
}

const internals = new WeakMap<TaskServer, TaskServerInternals>();

export const rememberInternals = (server: TaskServer, parts: TaskServerInternals): TaskServer => {
  internals.set(server, parts);
  return server;
};

/** Throws `misconfigured` for anything that `createTaskServer` has not made. */
export const internalsOf = (server: TaskServer, caller: string): TaskServerInternals => {
  const known = typeof server === "object" && server !== null ? internals.get(server) : undefined;
  if (known !== undefined) return known;
  throw new BridgeError("misconfigured", `${caller}: what createTaskServer() resolves with is needed`, {
    data: { path: "tasks" },
  });
};
