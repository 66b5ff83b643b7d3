import { toFormSchema } from "../form-schema.ts";
import { type RelatedTaskMeta, relatedTask } from "./related-task.ts";
import type { SessionQuestion } from "./to-elicitation.ts";

export interface SamplingRequest {
  readonly method: "sampling/createMessage";
  readonly params: {
    readonly messages: readonly {
      readonly role: "user";
      readonly content: { readonly type: "text"; readonly text: string };
    }[];
    readonly systemPrompt: string;
    readonly maxTokens: number;
    readonly _meta: RelatedTaskMeta;
  };
}

/** Answers are small; a model that has not ended by then does not answer the question. */
const maxAnswerTokens = 4_096;

/**
 * A question of a task as a request to the client's model, or why no model can answer it, in one line: a page is for a
 * person, and secrets do not pass through clients. Only for servers whose operator lets models answer. The model is asked
 * for JSON that fits the question's schema, or for the word ACCEPT where there is none, or for the word DECLINE.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
export const toSampling = (question: SessionQuestion, taskId: string): SamplingRequest | string => {
  const { message, schema, url } = question;
  if (url !== undefined && schema === undefined) return `waits for a person at ${url}: ${message}`;
  if (toFormSchema(schema).kind === "secret") return `waits for a secret, which no model may be asked for: ${message}`;
  const wanted =
    schema === undefined
      ? "If the answer is yes, reply with the word ACCEPT and nothing else."
      : `Reply with one JSON value that fits this JSON Schema and nothing else: ${JSON.stringify(schema)}`;
  return {
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: message } }],
      systemPrompt: `A job that runs on behalf of the user waits for the answer to a question. ${wanted}\nIf it should be refused, or you cannot tell, reply with the word DECLINE and nothing else.`,
      maxTokens: maxAnswerTokens,
      _meta: relatedTask(taskId),
    },
  };
};
