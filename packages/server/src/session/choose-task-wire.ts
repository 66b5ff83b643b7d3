import { isBridgeError, type TaskView } from "@taskbridge/core";
import { protocolVersion } from "@taskbridge/protocol/tasks-2025-11-25";
import { carriesSep1686, hasTaskMark } from "@taskbridge/protocol/tasks-sep1686";
import { toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { isOfSession } from "./call-origin.ts";
import type { Request2025 } from "./request-2025.ts";
import type { Session2025, TaskWire } from "./session-2025.ts";

type Served = Pick<ServeContext, "wires">;
type Speaking = Pick<Session2025, "revision" | "spoken" | "name">;

/** Earlier revisions know no tasks, whatever a client sends. */
export const servesTasks = ({ wires }: Served, session: Pick<Session2025, "revision">): boolean =>
  wires.has("2025-11-25") && (session.revision() ?? "") >= protocolVersion;

export const servesSep1686 = ({ wires }: Served): boolean => wires.has("sep-1686");

/** Remembers which generation a client has shown to speak. */
export const noteTaskWire = (
  context: Served,
  { method, params, session }: Pick<Request2025, "method" | "params" | "session">,
): void => {
  if (servesSep1686(context) && carriesSep1686(params)) session.spoken.add("sep-1686");
  const usesOwn = method === "tasks/cancel" || (method === "tools/call" && params.task !== undefined);
  if (usesOwn && servesTasks(context, session) && !hasTaskMark(params)) session.spoken.add("2025-11-25");
};

/**
 * Of which generation a request about tasks is; undefined: of none that its session is served.
 *
 * Both have `tasks/get`, `tasks/result` and `tasks/list`, and a client may speak both on one session: its SDK has tasks of
 * 2025-11-25, while it chooses IDs itself for calls that it may have to repeat. So no request changes what another means,
 * but where that one does not say so itself:
 *
 * 1. A session of a revision without tasks, or that is served none of its own, can only mean the draft.
 * 2. `tasks/cancel` is in 2025-11-25 alone, and `tasks/delete` in the draft alone.
 * 3. A key of the draft in `_meta` says so. The draft demands one with all that belongs to a task, while 2025-11-25 wants none
 *    with these methods: https://modelcontextprotocol.io/seps/1686-tasks#4-7-associating-task-related-messages
 * 4. Without a key, a task is the draft's if a client has chosen its ID and this session has spoken the draft, or it was
 *    this session that has made it, wherever that was heard. So whoever
 *    leaves the key out is understood, and whoever speaks 2025-11-25 alone never gets a form that its SDK refuses.
 * 5. A list is of no task: without a key it is the draft's in a session that has spoken nothing else. So is an ID that
 *    nobody has.
 */
export const chooseTaskWire = async (
  context: Pick<ServeContext, "wires" | "engine">,
  request: Request2025,
): Promise<TaskWire | undefined> => {
  const { method, params, session, owner } = request;
  if (!servesTasks(context, session)) return servesSep1686(context) ? "sep-1686" : undefined;
  if (!servesSep1686(context) || method === "tasks/cancel") return "2025-11-25";
  if (method === "tasks/delete" || carriesSep1686(params)) return "sep-1686";
  const hasSpoken = session.spoken.has("sep-1686");
  if (!hasSpoken && session.name === undefined) return "2025-11-25";
  const byHabit = !hasSpoken || session.spoken.has("2025-11-25") ? "2025-11-25" : "sep-1686";
  if (method === "tasks/list") return byHabit;
  try {
    const view = await context.engine.readTask(params.taskId, toAccess(owner));
    return isDraftsTask(context, session, view) ? "sep-1686" : "2025-11-25";
  } catch (error) {
    if (isBridgeError(error) && error.code === "not_found") return byHabit;
    throw error;
  }
};

/** Whether a task is the draft's to this session, where no request says so. */
export const isDraftsTask = (
  context: Served,
  session: Speaking,
  { isClientMinted, record }: Pick<TaskView, "isClientMinted" | "record">,
): boolean => {
  if (!servesSep1686(context)) return false;
  if (!servesTasks(context, session)) return true;
  const isMade = session.name !== undefined && isOfSession(record.origin, session.name);
  return isClientMinted && (isMade || session.spoken.has("sep-1686"));
};
