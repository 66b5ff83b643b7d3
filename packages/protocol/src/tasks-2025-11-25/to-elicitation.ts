import type { TaskQuestion } from "@taskbridge/core";
import type { ElicitationModes } from "../read-elicitation-modes.ts";
import { type FormElicitation, toElicitationParams, type UrlElicitation } from "../to-elicitation-params.ts";
import { type RelatedTaskMeta, relatedTask } from "./related-task.ts";

/** A question as a client of this revision is asked it. */
export type SessionQuestion = Pick<TaskQuestion, "key" | "message" | "schema" | "url">;

export interface ElicitationRequest {
  readonly method: "elicitation/create";
  readonly params: (FormElicitation | (UrlElicitation & { readonly elicitationId: string })) & {
    readonly _meta: RelatedTaskMeta;
  };
}

/**
 * A question of a task as a request to the client, or why it is withheld from this one, in one line. A page's
 * `elicitationId` is the same whenever it is asked.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
export const toElicitation = (
  question: SessionQuestion,
  taskId: string,
  modes: ElicitationModes,
): ElicitationRequest | string => {
  const params = toElicitationParams(question, modes);
  if (typeof params === "string") return params;
  const _meta = relatedTask(taskId);
  return {
    method: "elicitation/create",
    params:
      params.mode === "form" ? { ...params, _meta } : { ...params, elicitationId: `${taskId}.${question.key}`, _meta },
  };
};
