import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { toDeclaredCapabilities } from "@taskbridge/protocol/rev-2025-11-25";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import { createRecentSet } from "../recent-set.ts";
import { refuse } from "../refuse.ts";
import { toSessionName } from "../session/call-origin.ts";
import { cancelElsewhere } from "../session/cancel-elsewhere.ts";
import type { RequestId } from "../session/client-link.ts";
import type { LegacySession } from "../session/legacy-session.ts";
import { takeStrayAnswer } from "../session/take-stray-answer.ts";
import { onAbort } from "../session/waiter.ts";
import { createLegacyServer } from "./legacy-server.ts";
import { askedId, cancelledId, toMessages } from "./posted-messages.ts";
import { createRequestIds, type StrayReply } from "./request-ids.ts";
import { createRequestStreams } from "./request-streams.ts";
import { waitsForNews } from "./serve-legacy.ts";
import type { Introduction } from "./session-id.ts";
import type { KeptSession, SessionPlace } from "./session-table.ts";
import { createStreamIds, type LostWait } from "./stream-ids.ts";
import { tapStream } from "./stream-tap.ts";

/** A session over Streamable HTTP. */
export interface HttpSession extends KeptSession {
  readonly session: LegacySession;
  /** Goes on with a session that has begun elsewhere, or has made room here, before anything else is served in it. */
  revive(introduction: Introduction): Promise<void>;
  /** True once the SDK has accepted its `initialize`. */
  hasBegun(): boolean;
  /** Answers a POST. A wait for news ends when the token does by which it was sent. */
  post(request: Request, parsedBody: unknown, authInfo: AuthInfo | undefined): Promise<Response>;
  /**
   * Answers a GET with the session's own stream, in place of one that is still open. It ends when the token does by which
   * it was opened.
   */
  listen(request: Request, authInfo: AuthInfo | undefined): Promise<Response>;
  /** Answers a DELETE, which ends it, and refuses any other method. */
  other(request: Request): Promise<Response>;
  /** Ends the streams of what waits for news, so that the client comes back. */
  endWaiting(): void;
  close(): Promise<void>;
}

export interface OpenHttpSession {
  readonly owner: Owner;
  /** Is the session's, should it begin. */
  readonly id: string;
  /** Is taken when it begins. */
  readonly place: SessionPlace<HttpSession>;
  /** Is told when it has ended. */
  ended(id: string): void;
}

export const openHttpSession = async (
  { serve, keepAliveMs }: ListenContext,
  { owner, id, place, ended }: OpenHttpSession,
): Promise<HttpSession> => {
  const { clock, log } = serve;
  const streams = createRequestStreams({
    endStream: (requestId) => transport.closeSSEStream(requestId),
    waitsForNews: (message) => waitsForNews(serve, message),
  });
  const { server, session } = createLegacyServer(serve, {
    owner,
    transport: "http",
    channelOf: streams.channelOf,
    name: toSessionName(id),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessioninitialized: () => {
      session.closed.addEventListener("abort", () => ended(id), { once: true });
      place.take(id, kept);
    },
    keepAliveMs,
  });
  const ids = createRequestIds({
    sealer: serve.sealer,
    letters: serve.letters,
    about: id,
    receive: (response) => transport.onmessage?.(response),
  });
  session.closed.addEventListener("abort", ids.close, { once: true });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    try {
      await send(ids.toWire(message), options);
    } catch (error) {
      ids.forget(message);
      throw error;
    }
    if (!("method" in message) && message.id !== undefined) streams.answered(message.id);
  };
  const close = async (): Promise<void> => {
    try {
      await server.close();
    } catch (error) {
      log.error({ err: error }, "a session could not be ended");
    }
  };
  const expiry =
    (authInfo: AuthInfo | undefined) =>
    (end: () => void): (() => void) =>
      authInfo?.expiresAt === undefined
        ? () => {}
        : clock.schedule(Math.max(0, authInfo.expiresAt * 1000 - clock.now()), end);
  /** Requests of these IDs were taken in here, so that what their client says of them is about these. */
  const recent = createRecentSet<RequestId>(mostRecent);
  /** A stop waits for it. */
  const inBackground = (work: Promise<unknown>): void => {
    const done = work
      .catch((error: unknown) => log.warn({ err: error }, "what a client said about another replica's work was lost"))
      .finally(() => serve.asking.delete(done));
    serve.asking.add(done);
  };
  const takeStray = async ({ question, from, response }: StrayReply): Promise<void> => {
    const parts = { serve, owner, capabilities: session.capabilities() };
    const isAnswer = question !== undefined && response.error === undefined;
    if (isAnswer && (await takeStrayAnswer(parts, question, response.result))) return;
    await serve.letters.send(from, String(response.id), response);
  };
  const streamIds = createStreamIds({ sealer: serve.sealer, about: id, revision: session.revision });
  /** The same wait once more, in place of one whose loss nobody may have noticed. */
  const resume = async (
    request: Request,
    { id: requestId, taskId }: LostWait,
    authInfo: AuthInfo | undefined,
  ): Promise<Response> => {
    const again = toPost(request);
    if (!streams.channelOf(requestId).closed.aborted) {
      await kept.post(again, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }, authInfo);
    }
    return kept.post(again, { jsonrpc: "2.0", id: requestId, method: "tasks/result", params: { taskId } }, authInfo);
  };
  const kept: HttpSession = {
    owner,
    session,
    isIdle: () => streams.isIdle() && session.channels.own() === undefined,
    hasBegun: () => transport.sessionId !== undefined,
    revive: async (introduction) => {
      const answer = await transport.handleRequest(anyPost(), { parsedBody: toInitialize(introduction) });
      // At its end the SDK has served it.
      await answer.text();
    },
    post: async (request, parsedBody, authInfo) => {
      const { body, strays } = ids.fromWire(parsedBody);
      const takenBack = takenBackIds(body).filter((requestId) => !recent.has(requestId));
      for (const requestId of toMessages(body).flatMap(askedId)) recent.add(requestId);
      const shape = streamIds.shapeFor(body);
      const response = await streams.answer({ request, body, shape, expires: expiry(authInfo) }, () =>
        transport.handleRequest(request, { parsedBody: body }),
      );
      if (!response.ok) return response;
      for (const stray of strays) inBackground(takeStray(stray));
      for (const requestId of takenBack) inBackground(cancelElsewhere(serve, session, owner, requestId));
      return response;
    },
    listen: async (request, authInfo) => {
      const lost = streamIds.read(request.headers.get("last-event-id"));
      if (lost === "over") return refuse(405, "The answer was sent: there is nothing to resume");
      if (lost !== undefined) return resume(request, lost, authInfo);
      let response = await transport.handleRequest(request);
      if (response.status === 409) {
        // A client that comes back may have lost the other without anybody having noticed.
        streams.loseOwn();
        response = await transport.handleRequest(request);
      }
      if (response.body === null || response.status !== 200) return response;
      const tap = tapStream(response.body, request.signal);
      const { closed, isReady } = tap;
      closed.addEventListener("abort", expiry(authInfo)(tap.end), { once: true });
      streams.own(tap);
      session.channels.openOwn({ on: undefined, closed, isReady });
      const leave = serve.openTasks.follow(owner, (views) => {
        for (const view of views) session.watch.adopt(view, owner);
      });
      onAbort(closed, leave);
      return new Response(tap.body, { status: 200, headers: response.headers });
    },
    other: (request) => transport.handleRequest(request),
    endWaiting: () => streams.endWaiting(),
    close,
    end: () => void close(),
  };
  // The SDK's own types disagree about optional members here.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  return kept;
};

const mostRecent = 100;

/** What any POST has that the SDK looks at. */
const postHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" };

const anyPost = (): Request => new Request("http://localhost", { method: "POST", headers: postHeaders });

/** The answer goes out in place of that to the given request. */
const toPost = ({ url, headers, signal }: Request): Request =>
  new Request(url, { method: "POST", headers: { ...Object.fromEntries(headers), ...postHeaders }, signal });

/** The handshake once more: so the SDK knows all that it would know had the session begun here. */
const toInitialize = ({ revision, capabilities }: Introduction): object => ({
  jsonrpc: "2.0",
  id: "revived",
  method: "initialize",
  params: {
    protocolVersion: revision,
    capabilities: toDeclaredCapabilities(capabilities),
    clientInfo: { name: "revived", version: "0" },
  },
});

/** The requests that a client takes back. Its SDK does so too when its own timeout has passed, which nobody meant. */
const takenBackIds = (body: unknown): readonly RequestId[] =>
  toMessages(body)
    .filter(({ params }) => !isRequestTimeout(params?.reason))
    .flatMap(cancelledId);
