import { type AnswerRequest, BridgeError } from "@taskbridge/core/adapter";
import type { QueuePort } from "./redis/client.ts";

const conflict = (text: string): BridgeError => new BridgeError("conflict", text, { operation: "answer" });

/** Keeps the answer with the job, then lets the job be taken again: it finds the answer there. */
export const answerJob = async (
  queue: QueuePort,
  id: string,
  { question, answerId, action, content }: AnswerRequest,
): Promise<void> => {
  const answer = JSON.stringify({ answerId, action, ...(content === undefined ? {} : { content }) });
  const outcome = await queue.storeAnswer(id, question.id, answerId, answer);
  if (outcome === "delivered") return;
  // Also after a repeated delivery: the first may have ended in between.
  if (outcome === "stored") return queue.promote(id);
  if (outcome === "missing")
    throw conflict(`the question ${question.id} went with its job, which is not there any more`);
  throw conflict(`the question ${question.id} ${outcome === "taken" ? "has already been answered" : "is not open"}`);
};
