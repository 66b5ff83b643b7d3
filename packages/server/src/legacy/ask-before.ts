import { ProtocolError } from "@modelcontextprotocol/server";
import {
  BridgeError,
  type GivenAnswer,
  isBridgeError,
  type PrepareQuestion,
  type ResolvedTool,
} from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { fromElicitResult, toElicitation } from "@taskbridge/protocol/rev-2025-11-25";
import type { Prepared } from "../mcp/prepared.ts";
import { questionCheck } from "../mcp/question-check.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { askOnCall } from "./ask-on-call.ts";
import type { LegacyRequest } from "./legacy-request.ts";

/** A tool that has asked this often will not come to an end. */
const maxRounds = 20;
/** Nor will a client whose answers never fit. */
const maxAttempts = 3;

/** Asks a tool's questions before anything starts, each as a request on the stream of the call. */
export const askBefore = async (
  context: ServeContext,
  request: LegacyRequest,
  tool: ResolvedTool,
  args: unknown,
): Promise<Prepared> => {
  if (tool.prepare === undefined) return { input: args };
  const answers: Record<string, GivenAnswer> = {};
  for (let round = 1; round <= maxRounds; round++) {
    const outcome = await context.engine.prepareCall(tool.name, args, answers);
    if ("input" in outcome) return outcome;
    if ("refused" in outcome) return refuse(outcome.refused);
    for (const [name, question] of Object.entries(outcome.questions)) {
      const given = await askOne(request, name, question);
      if (typeof given === "string") return refuse(`${tool.name} ${given}`);
      answers[name] = given;
    }
  }
  return refuse(`${tool.name} has asked ${maxRounds} times without coming to an end.`);
};

const refuse = (message: string): Prepared => ({ answer: { ...toErrorResult(message) } });

/** The answer, or why the client cannot be asked. */
const askOne = async (
  request: LegacyRequest,
  name: string,
  question: PrepareQuestion,
): Promise<GivenAnswer | string> => {
  const capabilities = request.session.capabilities();
  let message = question.message;
  for (let attempt = 1; ; attempt++) {
    const asked = { ...question, key: name, message };
    // There is no task yet that the elicitation could be related to.
    const elicitation = toElicitation(asked, "", capabilities);
    if (typeof elicitation === "string") return elicitation;
    const { _meta, ...params } = elicitation.params;
    const outcome = await askOnCall(request, elicitation.method, params);
    if ("refused" in outcome) return `asks "${question.message}", and the client does not: ${outcome.refused}`;
    try {
      const given = fromElicitResult(outcome.reply, asked, capabilities) ?? { action: "accept" as const };
      requireFitting(name, question, given);
      return given;
    } catch (error) {
      if (!isBridgeError(error) || error.code !== "invalid_input") throw error;
      if (attempt >= maxAttempts) throw new ProtocolError(-32_602, error.message, { path: error.data?.path });
      message = `${question.message}\n\n(The answer did not fit. ${error.message})`;
    }
  }
};

const requireFitting = (name: string, { schema }: PrepareQuestion, answer: GivenAnswer): void => {
  if (answer.action !== "accept" || schema === undefined) return;
  const path = `${name}.content`;
  const fault = questionCheck(schema, path)(answer.content);
  if (fault !== undefined) throw new BridgeError("invalid_input", `${path}: ${fault}`, { data: { path } });
};
