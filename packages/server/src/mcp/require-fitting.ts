import { BridgeError, type GivenAnswer, type PrepareQuestion } from "@taskbridge/core";
import { compileCheck } from "../json-schema-check.ts";

/**
 * Checks an answer to a question that a tool asks before anything starts. Throws `invalid_input` with `path`, which says
 * where the client has put the content, as `data.path`.
 */
export const requireFitting = ({ schema }: PrepareQuestion, answer: GivenAnswer, path: string): void => {
  if (answer.action !== "accept" || schema === undefined) return;
  const fault = compileCheck(schema, path)(answer.content);
  if (fault !== undefined) throw new BridgeError("invalid_input", `${path}: ${fault}`, { data: { path } });
};
