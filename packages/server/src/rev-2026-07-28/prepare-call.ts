import type { Result, ServerContext } from "@modelcontextprotocol/server";
import type { GivenAnswer, PrepareOutcome, PrepareQuestion, ResolvedTool } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { fromInputResponses, toInputRequests, toInputRequiredResult } from "@taskbridge/protocol/tasks-2026-07-28";
import { digestOf, readCallState, refuseState } from "../mcp/call-state.ts";
import { maxRounds, tooManyRounds } from "../mcp/max-rounds.ts";
import type { Prepared } from "../mcp/prepared.ts";
import { requireFitting } from "../mcp/require-fitting.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { toProtocolError } from "../mcp/to-protocol-error.ts";

/** What the client carries from round to round, signed and bound to it. */
interface PrepareState {
  readonly tool: string;
  /** Digest of the arguments: answers to one call are not answers to another. */
  readonly args: string;
  readonly answers: Readonly<Record<string, GivenAnswer>>;
  readonly round: number;
}

/** Every mode: the SDK refuses, with the right error, what the caller did not declare. */
const anyMode = { tasks: true, form: true, url: true };

/**
 * Asks a tool's questions before anything starts. Nothing is kept here: each round comes back with its state, so that
 * any replica can answer it. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export const prepareCall = async (
  context: ServeContext,
  tool: ResolvedTool,
  args: unknown,
  request: ServerContext,
): Promise<Prepared> => {
  if (tool.prepare === undefined) return { input: args };
  const digest = digestOf(args);
  const state = await readState(context, request, tool.name, digest);
  let answers = state?.answers ?? {};
  let outcome = await context.engine.prepareCall(tool.name, args, answers);
  if (state !== undefined && "questions" in outcome) {
    const given = readAnswers(context, outcome.questions, request);
    answers = { ...answers, ...given };
    if (Object.keys(given).length > 0) outcome = await context.engine.prepareCall(tool.name, args, answers);
  }
  if ("input" in outcome) return outcome;
  if ("refused" in outcome) return { answer: toResult(outcome.refused) };
  const round = (state?.round ?? 0) + 1;
  if (round > maxRounds) return { answer: toResult(tooManyRounds(tool.name)) };
  return { answer: await ask(context, outcome, { tool: tool.name, args: digest, answers, round }, request) };
};

const toResult = (message: string): Result => ({ ...toErrorResult(message) });

const readState = async (
  context: ServeContext,
  request: ServerContext,
  tool: string,
  args: string,
): Promise<PrepareState | undefined> => {
  const state = (await readCallState(context, request)) as PrepareState | undefined;
  if (state === undefined || (state.tool === tool && state.args === args && "answers" in state)) return state;
  return refuseState();
};

const ask = async (
  context: ServeContext,
  { questions }: Extract<PrepareOutcome, { questions: unknown }>,
  state: PrepareState,
  request: ServerContext,
): Promise<Result> => {
  const { requests, withheld } = toInputRequests(Object.entries(questions), anyMode);
  if (withheld.length > 0) return toResult(`${state.tool} ${withheld.join("; ")}`);
  return { ...toInputRequiredResult({ requests }, await context.stateCodec.mint(state, request)) };
};

/** What does not fit is refused as a request, not told as the tool's answer: it was the client that sent it. */
const readAnswers = (
  context: ServeContext,
  questions: Readonly<Record<string, PrepareQuestion>>,
  request: ServerContext,
): Readonly<Record<string, GivenAnswer>> => {
  try {
    const given = fromInputResponses(request.mcpReq.inputResponses ?? {}, new Map(Object.entries(questions)), anyMode);
    for (const [name, question] of Object.entries(questions)) {
      const answer = given[name];
      if (answer !== undefined) requireFitting(question, answer, `inputResponses.${name}.content`);
    }
    return given;
  } catch (error) {
    throw toProtocolError(error, context.log);
  }
};
