import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import type { LegacySession } from "../session/legacy-session.ts";
import { createLegacyServer } from "./legacy-server.ts";
import { createRequestStreams } from "./request-streams.ts";
import { waitsForNews } from "./serve-legacy.ts";
import type { KeptSession, SessionPlace } from "./session-table.ts";
import { tapStream } from "./stream-tap.ts";

/** A session over Streamable HTTP. */
export interface HttpSession extends KeptSession {
  readonly session: LegacySession;
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

/** Takes the place when the session begins; `ended` is told its ID when it has ended. */
export const openHttpSession = async (
  { serve, keepAliveMs }: ListenContext,
  owner: Owner,
  place: SessionPlace<HttpSession>,
  ended: (id: string) => void,
): Promise<HttpSession> => {
  const { clock, log } = serve;
  const streams = createRequestStreams({
    endStream: (id) => transport.closeSSEStream(id),
    waitsForNews: (message) => waitsForNews(serve, message),
  });
  const { server, session } = createLegacyServer(serve, { owner, transport: "http", channelOf: streams.channelOf });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      session.closed.addEventListener("abort", () => ended(id), { once: true });
      place.take(id, kept);
    },
    keepAliveMs,
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    await send(message, options);
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
  const kept: HttpSession = {
    owner,
    session,
    isIdle: () => streams.isIdle() && session.channels.own() === undefined,
    hasBegun: () => transport.sessionId !== undefined,
    post: (request, parsedBody, authInfo) =>
      streams.answer({ request, body: parsedBody, expires: expiry(authInfo) }, () =>
        transport.handleRequest(request, { parsedBody }),
      ),
    listen: async (request, authInfo) => {
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
