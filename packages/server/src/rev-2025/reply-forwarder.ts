import type { Owner } from "../caller.ts";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { createRecentSet } from "../recent-set.ts";
import { applyStrayAnswer } from "../session/apply-stray-answer.ts";
import { cancelElsewhere } from "../session/cancel-elsewhere.ts";
import type { RequestId } from "../session/client-link.ts";
import type { Session2025 } from "../session/session-2025.ts";
import { askedId, cancelledId, toMessages } from "./posted-messages.ts";
import type { StrayReply } from "./request-ids.ts";

/** What a client says in its session about the work of other replicas: answers, and that it takes a call back. */
export interface ReplyForwarder {
  /** Reads what was posted. Returns how to act on it, which is to wait until the transport has taken it. */
  read(body: unknown, strays: readonly StrayReply[]): () => void;
}

export interface ReplyForwarderParts {
  readonly serve: ServeContext;
  readonly session: Session2025;
  readonly owner: Owner;
}

/** So many requests are known to have been taken in here: what is said about them later is about these. */
const maxRecent = 100;
/** So many replies to what others have asked are taken of one POST: a client has hardly more to say in one batch. */
const maxStrays = 16;
/** Nobody waits longer for what a person says to a call (milliseconds), so that a reply is not good for ever. */
const maxWaitMs = 86_400_000;

export const createReplyForwarder = ({ serve, session, owner }: ReplyForwarderParts): ReplyForwarder => {
  const recent = createRecentSet<RequestId>(maxRecent);

  const applyStray = async ({ question, from, askedAt, response }: StrayReply): Promise<void> => {
    const parts = { serve, owner, capabilities: session.capabilities() };
    const isAnswer = question !== undefined && response.error === undefined;
    if (isAnswer && (await applyStrayAnswer(parts, question, response.result))) return;
    if (serve.storeNow() - askedAt > maxWaitMs) throw new Error("a reply to what was asked too long ago");
    const sender = owner ?? session.name ?? "";
    await serve.mailbox.send(from, { id: String(response.id), message: response, sender });
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
      const withdrawn = withdrawnIds(body).filter((requestId) => !recent.has(requestId));
      for (const requestId of toMessages(body).flatMap(askedId)) recent.add(requestId);
      return () => {
        for (const stray of strays.slice(0, maxStrays)) inBackground(applyStray(stray));
        const left = strays.length - maxStrays;
        if (left > 0) serve.log.warn({ left }, "of the replies in one batch to other replicas the last were lost");
        for (const requestId of withdrawn) inBackground(cancelElsewhere(serve, session, owner, requestId));
      };
    },
  };
};

/** SDKs take a request back also when their own timeout has passed, which nobody meant. */
const withdrawnIds = (body: unknown): readonly RequestId[] =>
  toMessages(body)
    .filter(({ params }) => !isRequestTimeout(params?.reason))
    .flatMap(cancelledId);
