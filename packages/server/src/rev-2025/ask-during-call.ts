import type { QuestionsDuringCall } from "../mcp/call-questions.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { toInquiry } from "../session/to-inquiry.ts";

/**
 * Puts the questions of a task on the stream of the call that waits for it, by the machinery of `tasks/result`. A person may
 * take longer than the host waits: the call is then answered, and the question stays the session's to answer.
 */
export const askDuringCall = (context: ServeContext, { session, id, owner }: Request2025): QuestionsDuringCall => ({
  open: (taskId) => {
    const close = session.channels.openFor(taskId, session.channelOf(id));
    return { observe: (view) => session.watch.observe(view, owner), close };
  },
  isPut: (taskId, question) =>
    !session.hasGivenUp(taskId, question.key) &&
    typeof toInquiry(question, taskId, session.capabilities(), context.allowModelAnswers) !== "string",
});
