import { randomBytes } from "node:crypto";
import { isBridgeError, isStoreUnavailable, openQuestions, type TaskView } from "@taskbridge/core";
import { methodNotFoundCode } from "@taskbridge/protocol";
import { type Owner, toAccess } from "../caller.ts";
import { maxAttempts, toAskedAgain } from "./ask-again.ts";
import { askClient } from "./ask-client.ts";
import type { AskedOnce, DispatcherParts } from "./asked-once.ts";
import type { Channel } from "./channel.ts";
import { isRpcError } from "./is-rpc-error.ts";
import { markQuestion } from "./question-mark.ts";
import { type QuestionWatch, watchQuestion } from "./question-watch.ts";
import { relateAsSep1686 } from "./relate-as-sep1686.ts";
import { toInquiry } from "./to-inquiry.ts";
import { writeAnswer } from "./write-answer.ts";

/** Puts the questions of tasks to one client, each once, however many streams and processes notice it. */
export interface QuestionDispatcher {
  /** Asks what a task has open, on the best stream there is, unless somebody else is doing so. */
  notice(view: TaskView, owner: Owner): void;
  /** The client was asked this question in vain, and is not asked it again. */
  hasGivenUp(taskId: string, key: string): boolean;
}

interface Asking {
  readonly asked: AskedOnce;
  /** The revision that was known when it was asked. */
  readonly since: number;
  readonly watch: QuestionWatch;
}

/** Between two attempts (milliseconds). */
const retryPauseMs = 10_000;
/** Questions that this client could not answer are remembered, so that it is not asked again. */
const maxRemembered = 1_000;

export const createQuestionDispatcher = (parts: DispatcherParts): QuestionDispatcher => {
  const { serve, channels, capabilities, closed } = parts;
  const by = randomBytes(16).toString("hex");
  const asking = new Map<string, Asking>();
  /** How often the client has failed to put a question. */
  const failures = new Map<string, number>();
  /** It is not asked these at present. */
  const paused = new Set<string>();
  const hasGivenUp: QuestionDispatcher["hasGivenUp"] = (taskId, key) =>
    (failures.get(toId(taskId, key)) ?? 0) >= maxAttempts;

  const notice: QuestionDispatcher["notice"] = (view, owner) => {
    const { taskId, revision } = view.record;
    for (const { asked, since, watch } of asking.values()) {
      // What was read before the question was asked cannot tell that it is closed.
      if (asked.taskId === taskId && revision > since) watch.observe(view);
    }
    for (const question of openQuestions(view.record.questions)) {
      const id = toId(taskId, question.key);
      if (
        closed.aborted ||
        asking.has(id) ||
        paused.has(id) ||
        hasGivenUp(taskId, question.key) ||
        channels.forTask(taskId) === undefined
      )
        continue;
      if (typeof toInquiry(question, taskId, capabilities(), serve.allowModelAnswers) === "string") continue;
      const asked: AskedOnce = { parts, by, taskId, owner, question, isSep1686: parts.isSep1686(view) };
      const watch = watchQuestion(asked);
      asking.set(id, { asked, since: revision, watch });
      const work = ask(id, asked, watch).finally(() => serve.asking.delete(work));
      serve.asking.add(work);
    }
  };
  const ask = async (id: string, asked: AskedOnce, watch: QuestionWatch): Promise<void> => {
    const outcome = await askOnce(asked, watch);
    if (outcome === "over") failures.delete(id);
    else if (outcome === "failed") remember(failures, id, (failures.get(id) ?? 0) + 1);
    else if (outcome === "given up") remember(failures, id, maxAttempts);
    // Not before: the client hears that the claim is given back, and is then told what has come of it.
    await watch.stop();
    asking.delete(id);
    const isOver = outcome === "over" || hasGivenUp(asked.taskId, asked.question.key);
    if (!isOver) rest(id, asked);
  };
  /** The client has failed, or the store: others have their turn before it is tried once more. */
  const rest = (id: string, asked: AskedOnce): void => {
    if (closed.aborted) return;
    const { taskId, owner } = asked;
    paused.add(id);
    const forget = (): void => cancel();
    const cancel = serve.clock.schedule(retryPauseMs, () => {
      closed.removeEventListener("abort", forget);
      paused.delete(id);
      serve.engine.readTask(taskId, toAccess(owner)).then(
        (view) => notice(view, owner),
        (error: unknown) => {
          serve.log.warn({ err: error, taskId }, "a task with a question could not be read");
          if (isStoreUnavailable(error)) rest(id, asked);
        },
      );
    });
    closed.addEventListener("abort", forget, { once: true });
  };
  return { notice, hasGivenUp };
};

const toId = (taskId: string, key: string): string => `${taskId} ${key}`;

const remember = (failures: Map<string, number>, id: string, times: number): void => {
  failures.set(id, times);
  const [oldest] = failures.keys();
  if (failures.size > maxRemembered && oldest !== undefined) failures.delete(oldest);
};

/**
 * `over`: answered, or no longer to be asked. `failed`: the client could not put it, and others have their turn before it
 * is asked once more. `given up`: this client has no answer to it. `delayed`: nothing was wrong with the client.
 */
type Outcome = "over" | "failed" | "given up" | "delayed";

/** Puts a question to the client until it is settled, and hands the answer in. */
const askOnce = async (asked: AskedOnce, watch: QuestionWatch): Promise<Outcome> => {
  const { parts, taskId, question } = asked;
  const { log } = parts.serve;
  try {
    return await askUntilFitting(asked, watch);
  } catch (error) {
    if (watch.end() !== undefined) return "over";
    if (!isClientsFault(error)) {
      log.warn({ err: error, taskId }, "a question could not be put to a client");
      return "delayed";
    }
    // What the client says about it may hold what its user has said.
    const code = isRpcError(error) ? error.code : undefined;
    log.info({ code, taskId, question: question.key }, "a client cannot answer a question");
    return code === methodNotFoundCode ? "given up" : "failed";
  }
};

const askUntilFitting = async (asked: AskedOnce, watch: QuestionWatch): Promise<Outcome> => {
  const { parts, taskId, owner, question } = asked;
  const { engine, allowModelAnswers, clock } = parts.serve;
  const capabilities = parts.capabilities();
  const relate = (params: object, { on, isSep1686 }: Channel): object => {
    const isRelatedAsSep1686 = isSep1686 === true || (on === undefined && asked.isSep1686);
    return markQuestion(isRelatedAsSep1686 ? relateAsSep1686(params) : params, { taskId, key: question.key });
  };
  const client = { link: parts.link, clock, capabilities, watch, relate };
  let message = question.message;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const inquiry = toInquiry({ ...question, message }, taskId, capabilities, allowModelAnswers);
    if (typeof inquiry === "string") break;
    try {
      const given = inquiry.read(await askClient(client, inquiry));
      // The page was opened. The backend notices what is done there, and nobody is sent to it twice.
      if (given === undefined) return await watch.keep();
      await writeAnswer(parts.serve, () => engine.answerTask(taskId, toAccess(owner), { [question.key]: given }));
      return "over";
    } catch (error) {
      if (!isBridgeError(error) || error.code !== "invalid_input") throw error;
      message = toAskedAgain(question.message, error);
    }
  }
  return "given up";
};

/** What is wrong with the store says nothing about the client. */
const isClientsFault = (error: unknown): boolean => !isBridgeError(error) || error.code === "bad_response";
