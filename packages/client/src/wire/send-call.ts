import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Connection } from "../connection.ts";
import { type Members, toMembers } from "../is-object.ts";
import type { RequestOptions } from "../tap-transport.ts";
import { toElicitResult, toQuestions } from "../to-question.ts";
import type { CallRequest } from "../wire.ts";
import type { Frame } from "./framing-2026.ts";

/**
 * Calls a tool, once: where the connection breaks before the answer, the tool may have run, and only the caller knows
 * whether it may run again.
 */
export const sendCall = async (
  connection: Connection,
  params: Members,
  options: RequestOptions = {},
): Promise<Members> => {
  try {
    return await connection.once("tools/call", params, options);
  } catch (error) {
    if (!isTaskClientError(error, "unreachable") || error.notSent) throw error;
    throw new TaskClientError(
      "outcome_unknown",
      `the call was sent and not answered, so the tool may have run: ${error.message}`,
      { ...error, cause: error },
    );
  }
};

/** A tool that asks more often before it starts does not end. */
const maxRounds = 50;

/** Calls a tool, and again with answers as long as it asks something before it starts. */
export const callInRounds = async (
  connection: Connection,
  { tool, args, meta, asks, ask }: CallRequest,
  frame: Frame,
  options?: RequestOptions,
): Promise<Members> => {
  const first = callParams(tool, args, meta);
  let params = first;
  for (let round = 0; round < maxRounds; round++) {
    const answer = await sendCall(connection, frame(params, asks), options);
    if (answer["resultType"] !== "input_required") return answer;
    const inputResponses = await answerAll(answer["inputRequests"], ask).catch(toUnsettled);
    if (options?.signal?.aborted) toUnsettled(options.signal.reason);
    const { requestState } = answer;
    params = {
      ...first,
      ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
  throw new TaskClientError("bad_response", `the tool asked ${maxRounds} times before it started`);
};

/**
 * Between two rounds no request is open that a cancellation could be about, and the server may have begun something
 * before it asked.
 */
const toUnsettled = (error: unknown): never => {
  if (!isTaskClientError(error, "cancelled")) throw error;
  throw new TaskClientError(
    "outcome_unknown",
    "given up at a question: the server had answered the call with it, so that nothing could be cancelled, and what the tool has begun may go on",
    { cause: error },
  );
};

/** The answers to a round of questions, asked one after the other. */
const answerAll = async (requests: unknown, ask: CallRequest["ask"]): Promise<Members> => {
  const questions = toQuestions(requests);
  if (questions.length < Object.keys(toMembers(requests)).length) {
    throw new TaskClientError("unsupported", "the tool asks for something that is no question to a person");
  }
  const responses: Record<string, Members> = {};
  for (const question of questions) responses[question.key] = toElicitResult(await ask(question));
  return responses;
};

/** The parameters of a call. */
export const callParams = (tool: string, args: Members, meta: Members): Members => ({
  name: tool,
  arguments: args,
  ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
});
