import type { TaskQuestion } from "@taskbridge/core";
import type { ElicitationModes } from "./read-elicitation-modes.ts";

/** What of a question is put to a person. */
export type AskedQuestion = Pick<TaskQuestion, "message" | "schema" | "url">;

/** How a question is put to a caller with these modes, whether or not it has that one. A page to visit stands in for a form only where there is no schema. */
export const questionMode = (question: AskedQuestion, modes: ElicitationModes): "form" | "url" => {
  if (question.url === undefined) return "form";
  return question.schema !== undefined && modes.form ? "form" : "url";
};
