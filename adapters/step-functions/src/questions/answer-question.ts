import {
  type AnswerRequest,
  BridgeError,
  type CallContext,
  type ExecutionQuestion,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { HistoryEvent, SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import type { ExecutionLocation } from "../mapping/execution-arn.ts";
import { maxPayloadBytes } from "../starts/prepare-start.ts";
import { goesOn } from "./fold-callbacks.ts";
import { readBack } from "./read-back.ts";
import { parseQuestionId } from "./to-question.ts";

/** What a state is told of a refusal, for its `Catch`. */
const refusals = { decline: "Taskbridge.Declined", cancel: "Taskbridge.Cancelled" } as const;

const causes = {
  decline: "the person declined",
  cancel: "nobody answered in time, or the question was dismissed",
} as const;

/** How long a page of history waits for its turn (milliseconds). */
const waitMs = 5_000;

export const tokenOf = ({ id, secret }: ExecutionQuestion): string => {
  if (secret !== undefined) return secret;
  throw new BridgeError("internal", `the token of question ${id} is not in the store`);
};

interface Refusal {
  readonly error: string;
  readonly cause: string;
}

/** How a wait ended; undefined while it goes on. */
const closingOf = (events: readonly HistoryEvent[], eventId: number): HistoryEvent | undefined => {
  const chain = new Set([eventId]);
  return events
    .toSorted((one, other) => one.id - other.id)
    .find(({ id, previousId, type }) => {
      if (!chain.has(previousId)) return false;
      chain.add(id);
      return !goesOn(type);
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

/** Whether a closed task was closed by this very answer, as its history tells. */
const wasClosedBy = async (
  client: SfnClient,
  arn: string,
  eventId: number,
  { output, refusal }: { readonly output: string; readonly refusal: Refusal | undefined },
  take: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> => {
  const events = await readBack(client, arn, eventId - 1, take, signal).catch((failure: unknown) => {
    // What was started a moment ago may have no history to show.
    if (toBridgeError(failure).code === "not_found") return undefined;
    throw failure;
  });
  const closing = closingOf(events ?? [], eventId);
  if (closing === undefined)
    throw new BridgeError("unavailable", "the task is closed, but its history does not tell how yet", {
      retryAfterMs: 1_000,
    });
  return refusal === undefined
    ? closing.type === "TaskSucceeded" && isSameJson(output, closing.output)
    : closing.type === "TaskFailed" && closing.error === refusal.error && closing.cause === refusal.cause;
};

/**
 * Sends an answer to the waiting task. AWS refuses a second one as it refuses any for a closed task, so that after an earlier delivery
 * the history is asked.
 */
export const answerQuestion = async (
  client: SfnClient,
  quotas: Quotas,
  { arn }: ExecutionLocation,
  { question, action, content, attempt, answerId }: AnswerRequest,
  { signal }: CallContext,
): Promise<void> => {
  const token = tokenOf(question);
  const output = JSON.stringify(content ?? {});
  if (action === "accept" && Buffer.byteLength(output) > maxPayloadBytes)
    throw new BridgeError("invalid_input", `an answer has ${maxPayloadBytes} bytes at most`, { notSent: true });
  const refusal =
    action === "accept" ? undefined : { error: refusals[action], cause: `${causes[action]} (${answerId})` };
  try {
    if (refusal === undefined) await client.succeedTask(token, output, signal);
    else await client.failTask(token, refusal, signal);
  } catch (error) {
    const known = toBridgeError(error);
    const eventId = parseQuestionId(question.id);
    if (known.code !== "conflict" || attempt === 1 || eventId === undefined) throw known;
    const take = (): Promise<boolean> => quotas.history.take(waitMs, signal);
    if (!(await wasClosedBy(client, arn, eventId, { output, refusal }, take, signal))) throw known;
  }
};
