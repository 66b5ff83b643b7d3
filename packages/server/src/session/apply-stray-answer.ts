import { isBridgeError, openQuestions } from "@taskbridge/core";
import { parseCreatedTask, type SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { QuestionMark } from "./question-mark.ts";
import { type Inquiry, toInquiry } from "./to-inquiry.ts";
import { writeAnswer } from "./write-answer.ts";

export interface StrayAnswerParts {
  readonly serve: ServeContext;
  readonly owner: Owner;
  /** Of the session that was asked. */
  readonly capabilities: SessionCapabilities;
}

/**
 * Hands in what a client has replied to a question that another process has put to it; that one hears from the store that it
 * is settled. False: the reply settles nothing, so that whoever has asked must see it.
 */
export const applyStrayAnswer = async (
  { serve, owner, capabilities }: StrayAnswerParts,
  { taskId, key }: QuestionMark,
  reply: unknown,
): Promise<boolean> => {
  const access = toAccess(owner);
  try {
    let isTaken = true;
    await writeAnswer(serve, async () => {
      const { record } = await serve.engine.readTask(taskId, access);
      const question = openQuestions(record.questions).find((open) => open.key === key);
      // Settled meanwhile: the first answer counts.
      if (question === undefined) return;
      const inquiry = toInquiry(question, taskId, capabilities, serve.allowModelAnswers);
      const given = typeof inquiry === "string" ? undefined : readNow(inquiry, reply);
      if (given === undefined) isTaken = false;
      else await serve.engine.answerTask(taskId, access, { [key]: given });
    });
    return isTaken;
  } catch (error) {
    if (!isBridgeError(error)) throw error;
    if (error.code === "not_found") return true;
    if (error.code === "invalid_input") return false;
    throw error;
  }
};

/** Undefined for what is to be followed: a task of the client, or a page that it has opened. */
const readNow = (inquiry: Inquiry, reply: unknown): ReturnType<Inquiry["read"]> =>
  inquiry.asTask && isTask(reply) ? undefined : inquiry.read(reply);

const isTask = (reply: unknown): boolean => {
  try {
    parseCreatedTask(reply);
    return true;
  } catch {
    return false;
  }
};
