import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { BridgeError } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { refuse } from "../refuse.ts";
import { toSessionName } from "../session/call-origin.ts";
import type { Session2025 } from "../session/session-2025.ts";
import { onAbort } from "../session/waiter.ts";
import { anyPost, toInitialize, toPost } from "./own-posts.ts";
import { createReplyForwarder } from "./reply-forwarder.ts";
import { createRequestIds } from "./request-ids.ts";
import { createRequestStreams } from "./request-streams.ts";
import { waitsForUpdates } from "./serve-2025.ts";
import { createServer2025 } from "./server-2025.ts";
import type { Introduction } from "./session-id.ts";
import type { KeptSession, SessionSlot } from "./session-table.ts";
import { createStreamIds, type LostWait } from "./stream-ids.ts";
import { tapStream } from "./stream-tap.ts";

/** A session over Streamable HTTP. */
export interface HttpSession extends KeptSession {
  readonly session: Session2025;
  /**
   * Goes on with a session that has begun elsewhere, or has made room here, before anything else is served in it. Rejects when
   * the SDK does not accept it.
   */
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
  readonly slot: SessionSlot<HttpSession>;
  /** Is told when it has ended. */
  ended(id: string): void;
}

export const openHttpSession = async (
  { serve, keepAliveMs }: ListenContext,
  { owner, id, slot, ended }: OpenHttpSession,
): Promise<HttpSession> => {
  const { clock, log } = serve;
  const streams = createRequestStreams({
    endStream: (requestId) => transport.closeSSEStream(requestId),
    waitsForUpdates: (message) => waitsForUpdates(serve, message),
  });
  const { server, session } = createServer2025(serve, {
    owner,
    transport: "http",
    channelOf: streams.channelOf,
    name: toSessionName(id),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessioninitialized: () => {
      session.closed.addEventListener("abort", () => ended(id), { once: true });
      slot.fill(id, kept);
    },
    keepAliveMs,
  });
  const ids = createRequestIds({
    sealer: serve.sealer,
    mailbox: serve.mailbox,
    storeNow: serve.storeNow,
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
  const replyForwarder = createReplyForwarder({ serve, session, owner });
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
      const text = await answer.text();
      if (answer.status !== 200) throw new BridgeError("internal", `a session cannot go on here: ${text}`);
    },
    post: async (request, parsedBody, authInfo) => {
      const { body, strays } = ids.fromWire(parsedBody);
      const act = replyForwarder.read(body, strays);
      const shape = streamIds.shapeFor(body);
      const response = await streams.answer({ request, body, shape, expires: expiry(authInfo) }, () =>
        transport.handleRequest(request, { parsedBody: body }),
      );
      if (response.ok) act();
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
