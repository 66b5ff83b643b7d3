import { type Access, openQuestions, type TaskView } from "@taskbridge/core";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";
import { toOrigin } from "./call-origin.ts";
import type { RequestId } from "./client-link.ts";
import type { Session2025 } from "./session-2025.ts";
import { toInquiry } from "./to-inquiry.ts";

type Asking = Pick<Session2025, "name" | "capabilities">;

/** How many tasks are read at once, and altogether: an owner has hardly more under way. */
const pageLength = 100;
const maxPages = 10;

/**
 * Stops the task of a call that its client takes back where nobody knows the call: another process has taken it in. One that
 * has been answered is not to be taken back any more, so that what may have been is left alone.
 */
export const cancelElsewhere = async (
  serve: ServeContext,
  session: Asking,
  owner: Owner,
  requestId: RequestId,
): Promise<void> => {
  if (session.name === undefined || owner === null) return;
  const origin = toOrigin(session.name, requestId);
  const access = toAccess(owner);
  for await (const view of openTasksOf(serve, access)) {
    if (view.record.origin !== origin || hasEnded(view) || !isWaitedFor(serve, session, view)) continue;
    const options = { reason: "the client asked for it", isFinal: view.isClientMinted };
    await serve.engine.cancelTask(view.record.taskId, access, options);
  }
};

async function* openTasksOf({ engine, log }: ServeContext, access: Access): AsyncGenerator<TaskView> {
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const found = await engine.listTasks(access, { slotHeld: true }, cursor, pageLength);
    yield* found.tasks;
    cursor = found.cursor;
    if (cursor === undefined) return;
  }
  log.warn({ max: maxPages * pageLength }, "of an owner with many tasks not all could be searched for a call");
}

/** A call of the draft waits for the end of its task, any other as long as a host stands it and can be asked meanwhile. */
const isWaitedFor = (
  { allowModelAnswers, storeNow, waitMs }: ServeContext,
  { capabilities }: Asking,
  { record, isClientMinted }: TaskView,
): boolean =>
  isClientMinted ||
  (storeNow() - record.createdAt < waitMs &&
    openQuestions(record.questions).every(
      (question) => typeof toInquiry(question, record.taskId, capabilities(), allowModelAnswers) !== "string",
    ));
