import type { Owner } from "../caller.ts";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { createRecentSet } from "../recent-set.ts";
import { cancelElsewhere } from "../session/cancel-elsewhere.ts";
import type { RequestId } from "../session/client-link.ts";
import type { LegacySession } from "../session/legacy-session.ts";
import { takeStrayAnswer } from "../session/take-stray-answer.ts";
import { askedId, cancelledId, toMessages } from "./posted-messages.ts";
import type { StrayReply } from "./request-ids.ts";

/** What a client says in its session about the work of other replicas: answers, and that it takes a call back. */
export interface WordsForOthers {
  /** Reads what was posted. Returns how to act on it, which is to wait until the transport has taken it. */
  read(body: unknown, strays: readonly StrayReply[]): () => void;
}

export interface WordsForOthersParts {
  readonly serve: ServeContext;
  readonly session: LegacySession;
  readonly owner: Owner;
}

/** So many requests are known to have been taken in here: what is said about them later is about these. */
const mostRecent = 100;

export const createWordsForOthers = ({ serve, session, owner }: WordsForOthersParts): WordsForOthers => {
  const recent = createRecentSet<RequestId>(mostRecent);

  const takeStray = async ({ question, from, response }: StrayReply): Promise<void> => {
    const parts = { serve, owner, capabilities: session.capabilities() };
    const isAnswer = question !== undefined && response.error === undefined;
    if (isAnswer && (await takeStrayAnswer(parts, question, response.result))) return;
    await serve.letters.send(from, String(response.id), response);
  };
  /** A stop waits for it. */
  const inBackground = (work: Promise<unknown>): void => {
    const done = work
      .catch((error: unknown) => serve.log.warn({ err: error }, "what a client said to another replica was lost"))
      .finally(() => serve.asking.delete(done));
    serve.asking.add(done);
  };
  return {
    read: (body, strays) => {
      const takenBack = takenBackIds(body).filter((requestId) => !recent.has(requestId));
      for (const requestId of toMessages(body).flatMap(askedId)) recent.add(requestId);
      return () => {
        for (const stray of strays) inBackground(takeStray(stray));
        for (const requestId of takenBack) inBackground(cancelElsewhere(serve, session, owner, requestId));
      };
    },
  };
};

/** SDKs take a request back also when their own timeout has passed, which nobody meant. */
const takenBackIds = (body: unknown): readonly RequestId[] =>
  toMessages(body)
    .filter(({ params }) => !isRequestTimeout(params?.reason))
    .flatMap(cancelledId);
