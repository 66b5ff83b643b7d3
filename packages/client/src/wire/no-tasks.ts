import { TaskClientError } from "../client-error.ts";
import type { WireName } from "../task.ts";

/** What is asked of tasks where there are none. */
export const noTasks = (what: string, wire: WireName): TaskClientError =>
  new TaskClientError("unsupported", `${what}: ${wire === "none" ? "this server has no tasks" : `not on ${wire}`}`);
