import type { GivenAnswer } from "@taskbridge/core";
import {
  fromElicitResult,
  fromSamplingResult,
  type SessionCapabilities,
  type SessionQuestion,
  toElicitation,
  toSampling,
} from "@taskbridge/protocol/tasks-2025-11-25";

/** A question in the form in which a client can be asked it. */
export interface Inquiry {
  readonly method: string;
  readonly params: object;
  /** True: the client takes it as a task of its own, which is then polled. */
  readonly asTask: boolean;
  /** Undefined: nothing to deliver yet. Throws `invalid_input` for what is no answer. */
  read(reply: unknown): GivenAnswer | undefined;
}

/** How to put a question to a client, or why that is not possible, in one line. A person is asked before a model. */
export const toInquiry = (
  question: SessionQuestion,
  taskId: string,
  capabilities: SessionCapabilities,
  allowModelAnswers: boolean,
): Inquiry | string => {
  const elicitation = toElicitation(question, taskId, capabilities);
  if (typeof elicitation !== "string") {
    return {
      ...elicitation,
      asTask: capabilities.taskElicitation,
      read: (reply) => fromElicitResult(reply, question, capabilities),
    };
  }
  if (!allowModelAnswers || !capabilities.sampling) return elicitation;
  const sampling = toSampling(question, taskId);
  if (typeof sampling === "string") return sampling;
  return { ...sampling, asTask: capabilities.taskSampling, read: (reply) => fromSamplingResult(reply, question) };
};
