import { ProtocolError } from "@modelcontextprotocol/server";
import { type GivenAnswer, isBridgeError, type PrepareQuestion, type ResolvedTool } from "@taskbridge/core";
import { invalidParamsCode, toErrorResult } from "@taskbridge/protocol";
import { fromElicitResult, toElicitation } from "@taskbridge/protocol/tasks-2025-11-25";
import { maxRounds, tooManyRounds } from "../mcp/max-rounds.ts";
import type { Prepared } from "../mcp/prepared.ts";
import { requireFitting } from "../mcp/require-fitting.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { maxAttempts, toAskedAgain } from "../session/ask-again.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { askOnCall } from "./ask-on-call.ts";

/** Asks a tool's questions before anything starts, each as a request on the stream of the call. */
export const askBefore = async (
  context: ServeContext,
  request: Request2025,
  tool: ResolvedTool,
  args: unknown,
): Promise<Prepared> => {
  if (tool.prepare === undefined) return { input: args };
  const answers: Record<string, GivenAnswer> = {};
  for (let round = 0; ; round++) {
    const outcome = await context.engine.prepareCall(tool.name, args, answers);
    if ("input" in outcome) return outcome;
    if ("refused" in outcome) return refuse(outcome.refused);
    if (round === maxRounds) return refuse(tooManyRounds(tool.name));
    for (const [name, question] of Object.entries(outcome.questions)) {
      const given = await askOne(request, name, question);
      if (typeof given === "string") return refuse(`${tool.name} ${given}`);
      answers[name] = given;
    }
  }
};

const refuse = (message: string): Prepared => ({ answer: { ...toErrorResult(message) } });

/** The answer, or why the client cannot be asked. */
const askOne = async (request: Request2025, name: string, question: PrepareQuestion): Promise<GivenAnswer | string> => {
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
      requireFitting(question, given, `${name}.content`);
      return given;
    } catch (error) {
      if (!isBridgeError(error) || error.code !== "invalid_input") throw error;
      if (attempt >= maxAttempts) throw new ProtocolError(invalidParamsCode, error.message, { path: error.data?.path });
      message = toAskedAgain(question.message, error);
    }
  }
};
