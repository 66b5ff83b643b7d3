import type { QuestionsBeside } from "../mcp/call-questions.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { LegacyRequest } from "../session/legacy-request.ts";
import { toInquiry } from "../session/to-inquiry.ts";

/**
 * Puts the questions of a task on the stream of the call that waits for it, by the machinery of `tasks/result`. A person may
 * take longer than the host waits: the call is then answered, and the question stays the session's to answer.
 */
export const askBeside = (context: ServeContext, { session, id, owner }: LegacyRequest): QuestionsBeside => ({
  open: (taskId) => {
    const close = session.channels.openFor(taskId, session.channelOf(id));
    return { hear: (view) => session.watch.hear(view, owner), close };
  },
  isPut: (taskId, question) =>
    !session.hasGivenUp(taskId, question.key) &&
    typeof toInquiry(question, taskId, session.capabilities(), context.allowModelAnswers) !== "string",
});
