import {
  type AnswerRequest,
  BridgeError,
  type CallContext,
  type ExecutionQuestion,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { HistoryEvent, SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/token-bucket.ts";
import type { ExecutionPlace } from "../mapping/execution-arn.ts";
import { readBack } from "./read-history.ts";
import { parseQuestionId } from "./to-question.ts";

/** What a state is told of a refusal, for its `Catch`. */
export const refusals = { decline: "Taskbridge.Declined", cancel: "Taskbridge.Cancelled" } as const;

const causes = {
  decline: "the person declined",
  cancel: "nobody answered in time, or the question was dismissed",
} as const;

/** The largest answer (bytes). */
const mostBytes = 262_144;
/** How long a page of history waits for its turn (milliseconds). */
const waitMs = 5_000;

export const tokenOf = ({ id, secret }: ExecutionQuestion): string => {
  if (secret !== undefined) return secret;
  throw new BridgeError("internal", `the token of question ${id} is not in the store`);
};

/** How a wait ended; undefined while it goes on. */
const closingOf = (events: readonly HistoryEvent[], eventId: number): HistoryEvent | undefined => {
  const chain = new Set([eventId]);
  return [...events]
    .sort((one, other) => one.id - other.id)
    .find((event) => {
      if (!chain.has(event.previousId)) return false;
      chain.add(event.id);
      return event.type !== "TaskStarted" && event.type !== "TaskSubmitted";
    });
};

const isSameJson = (one: string, other: string | undefined): boolean => {
  if (one === other) return true;
  try {
    return one === JSON.stringify(JSON.parse(other ?? ""));
  } catch {
    return false;
  }
};

/**
 * Sends an answer to the waiting task. AWS refuses a second one as it refuses any for a closed task, so that after an earlier delivery
 * the history is asked whether the task was closed by this very answer.
 */
export const answerQuestion = async (
  client: SfnClient,
  quotas: Quotas,
  { arn }: ExecutionPlace,
  { question, action, content, attempt, answerId }: AnswerRequest,
  { signal }: CallContext,
): Promise<void> => {
  const token = tokenOf(question);
  const output = JSON.stringify(content ?? {});
  if (action === "accept" && Buffer.byteLength(output) > mostBytes)
    throw new BridgeError("invalid_input", `an answer has ${mostBytes} bytes at most`, { notSent: true });
  const told = action === "accept" ? undefined : { error: refusals[action], cause: `${causes[action]} (${answerId})` };
  try {
    if (told === undefined) await client.succeedTask(token, output, signal);
    else await client.failTask(token, told, signal);
  } catch (error) {
    const known = toBridgeError(error);
    const eventId = parseQuestionId(question.id);
    if (known.code !== "conflict" || attempt === 1 || eventId === undefined) throw known;
    const take = (): Promise<boolean> => quotas.history.take(waitMs, signal);
    const events = await readBack(client, arn, eventId - 1, take, signal).catch((failure: unknown) => {
      // What was started a moment ago may have no history to show.
      if (toBridgeError(failure).code === "not_found") return undefined;
      throw failure;
    });
    const closing = events === undefined ? undefined : closingOf(events, eventId);
    if (closing === undefined)
      throw new BridgeError("unavailable", "the task is closed, but its history does not tell how yet", {
        retryAfterMs: 1_000,
      });
    const wasOurs =
      told === undefined
        ? closing.type === "TaskSucceeded" && isSameJson(output, closing.output)
        : closing.type === "TaskFailed" && closing.error === told.error && closing.cause === told.cause;
    if (!wasOurs) throw known;
  }
};
