import type { ServerContext } from "@modelcontextprotocol/server";
import { type GivenAnswer, isBridgeError, openQuestions, type TaskQuestion, type TaskView } from "@taskbridge/core";
import { fromInputResponses, toInputRequests, toInputRequiredResult } from "@taskbridge/protocol/tasks-2026-07-28";
import { toAccess } from "../caller.ts";
import type { QuestionsAsAnswer, RepeatedCall, Resumed } from "../mcp/call-questions.ts";
import { digestOf, readCallState, refuseState } from "../mcp/call-state.ts";
import { maxRounds } from "../mcp/max-rounds.ts";
import { nameTheField } from "../mcp/name-the-field.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import { toProtocolError } from "../mcp/to-protocol-error.ts";
import { answerUnknown } from "./answer-unknown.ts";

/** What the client carries from round to round, signed and bound to its owner. */
interface TaskCallState {
  readonly tool: string;
  /** Digest of the arguments. */
  readonly args: string;
  readonly taskId: string;
  /** What was asked: nothing else is answered. */
  readonly keys: readonly string[];
  readonly round: number;
}

/**
 * Asks what a task asks by an `InputRequiredResult`. Its state names the task, so that the repeated call goes on with that
 * one: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export const askAsAnswer = (
  context: ServeContext,
  caller: Caller,
  request: ServerContext,
  { tool, args }: RepeatedCall,
): QuestionsAsAnswer => {
  let round = 0;
  let settled: ReadonlySet<string> = new Set();
  const isDeclared = (question: TaskQuestion): boolean =>
    toInputRequests([[question.key, question]], caller.capabilities).withheld.length === 0;
  return {
    isDeclared,
    isAskable: (question) => round < maxRounds && !settled.has(question.key) && isDeclared(question),
    ask: async ({ record }, questions) => {
      const keyed = questions.map((question) => [question.key, question] as const);
      const { requests } = toInputRequests(keyed, caller.capabilities);
      const keys = Object.keys(requests);
      const state: TaskCallState = { tool, args: digestOf(args), taskId: record.taskId, keys, round: round + 1 };
      return { ...toInputRequiredResult({ requests }, await context.taskStateCodec.mint(state, request)) };
    },
    resume: async () => {
      const state = await readCallState(context, request);
      if (!isTaskCallState(state)) return undefined;
      if (state.tool !== tool || state.args !== digestOf(args)) return refuseState();
      round = state.round;
      try {
        const view = await context.engine.readTask(state.taskId, toAccess(caller.owner));
        const asked = openQuestions(view.record.questions).filter(
          (question) => state.keys.includes(question.key) && isDeclared(question),
        );
        const resumed = await handIn(context, caller, request, view, asked);
        settled = resumed.settled;
        return resumed;
      } catch (error) {
        if (!isBridgeError(error)) throw error;
        if (error.code === "not_found") return { answer: await answerUnknown(context, caller, state.taskId, error) };
        // It was the client that sent what does not fit, so that it is refused as a request.
        if (error.code === "invalid_input") throw toProtocolError(error, context.log);
        throw error;
      }
    },
  };
};

const isTaskCallState = (state: unknown): state is TaskCallState =>
  typeof state === "object" && state !== null && "taskId" in state && "keys" in state;

/** Hands in what the user has said to what was asked, and has since been neither answered nor withdrawn. */
const handIn = async (
  { engine }: ServeContext,
  caller: Caller,
  { mcpReq }: ServerContext,
  view: TaskView,
  asked: readonly TaskQuestion[],
): Promise<Resumed> => {
  const responses = mcpReq.inputResponses ?? {};
  const questions = new Map(asked.map((question) => [question.key, question]));
  const answers: Readonly<Record<string, GivenAnswer>> = fromInputResponses(responses, questions, caller.capabilities);
  // What was responded to but is no answer: a page was opened, and its backend notices what is done there.
  const opened = asked.flatMap(({ key }) => (key in responses && answers[key] === undefined ? [key] : []));
  if (Object.keys(answers).length === 0) return { view, settled: new Set(opened) };
  const access = toAccess(caller.owner);
  const { taskId } = view.record;
  const { askedAgain } = await engine.answerTask(taskId, access, answers).catch(nameTheField("inputResponses."));
  const after = await engine.readTask(taskId, access);
  // Who has just dismissed a question is not asked it at once.
  const dismissed = askedAgain.length === 0 ? [] : openQuestions(after.record.questions).map(({ key }) => key);
  return { view: after, settled: new Set([...opened, ...dismissed]) };
};
