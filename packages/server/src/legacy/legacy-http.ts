import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { type AuthInfo, isInitializeRequest } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { createLegacyServer } from "./legacy-server.ts";
import type { LegacySession } from "./legacy-session.ts";
import { createRequestStreams, type RequestStreams } from "./request-streams.ts";
import { createSessionTable, type KeptSession, type SessionPlace } from "./session-table.ts";
import { tapStream } from "./stream-tap.ts";

export interface LegacyFetchOptions {
  readonly owner: Owner;
  readonly authInfo: AuthInfo | undefined;
  /** Of a POST. */
  readonly parsedBody: unknown;
}

/** Serves clients of the 2025 revisions over Streamable HTTP, each in a session. */
export interface LegacyHttp {
  fetch(request: Request, options: LegacyFetchOptions): Promise<Response>;
  toolsChanged(): void;
  /** Ends what waits for news, so that its client comes back. */
  endStreams(): void;
  close(): Promise<void>;
}

interface HttpSession extends KeptSession {
  readonly session: LegacySession;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly streams: RequestStreams;
  close(): Promise<void>;
}

const sessionHeader = "mcp-session-id";

export const createLegacyHttp = (context: ListenContext): LegacyHttp => {
  const { serve, limits, keepAliveMs } = context;
  const { clock, log } = serve;
  const table = createSessionTable<HttpSession>(limits, clock);

  const open = async (owner: Owner, place: SessionPlace<HttpSession>): Promise<HttpSession> => {
    const streams = createRequestStreams();
    const { server, session } = createLegacyServer(serve, { owner, transport: "http", channelOf: streams.channelOf });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        session.closed.addEventListener("abort", () => table.remove(id), { once: true });
        place.take(id, kept);
      },
      keepAliveMs,
    });
    const close = async (): Promise<void> => {
      try {
        await server.close();
      } catch (error) {
        log.error({ err: error }, "a session could not be ended");
      }
    };
    const kept: HttpSession = {
      owner,
      session,
      transport,
      streams,
      isIdle: () => streams.isIdle() && session.channels.own() === undefined,
      close,
      end: () => void close(),
    };
    // The SDK's own types disagree about optional members here.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return kept;
  };

  const initialize = async (request: Request, { owner, parsedBody }: LegacyFetchOptions): Promise<Response> => {
    let place: SessionPlace<HttpSession>;
    try {
      place = table.reserve(owner);
    } catch (error) {
      if (!isBridgeError(error)) throw error;
      log.warn({ limit: error.data?.limit }, "a session was refused");
      return refuse(503, -32_000, error.message, { "Retry-After": "1" });
    }
    try {
      const opened = await open(owner, place);
      const response = await opened.streams.answer(request, parsedBody, () =>
        opened.transport.handleRequest(request, { parsedBody }),
      );
      if (opened.transport.sessionId === undefined) await opened.close();
      return response;
    } finally {
      place.giveUp();
    }
  };
  const listen = async (request: Request, kept: HttpSession, authInfo: AuthInfo | undefined): Promise<Response> => {
    const response = await kept.transport.handleRequest(request);
    if (response.body === null || response.status !== 200) return response;
    const tap = tapStream(response.body, request.signal);
    const { closed, isReady } = tap;
    if (authInfo?.expiresAt !== undefined) {
      const forget = clock.schedule(authInfo.expiresAt * 1000 - clock.now(), tap.end);
      closed.addEventListener("abort", forget, { once: true });
    }
    kept.streams.own(tap);
    kept.session.channels.openOwn({ on: undefined, closed, isReady });
    return new Response(tap.body, { status: 200, headers: response.headers });
  };
  return {
    fetch: async (request, options) => {
      const { owner, authInfo, parsedBody } = options;
      const id = request.headers.get(sessionHeader);
      if (id === null) {
        if (request.method === "POST" && isInitializeRequest(parsedBody)) return initialize(request, options);
        return refuse(
          400,
          -32_000,
          "Bad Request: the Mcp-Session-Id header is required, as the answer to initialize gave it",
        );
      }
      const kept = table.find(id, owner);
      if (kept === undefined) return refuse(404, -32_001, "Session not found");
      if (request.method === "GET") return listen(request, kept, authInfo);
      if (request.method !== "POST") return kept.transport.handleRequest(request);
      return kept.streams.answer(request, parsedBody, () => kept.transport.handleRequest(request, { parsedBody }));
    },
    toolsChanged: () => {
      for (const { session } of table.all()) {
        session.link.notify("notifications/tools/list_changed", {}).catch((error: unknown) => {
          log.debug({ err: error }, "a client could not be told about the tools");
        });
      }
    },
    endStreams: () => {
      for (const { streams } of table.all()) streams.endWaiting();
    },
    close: async () => {
      const sessions = table.all();
      table.close();
      await Promise.all(sessions.map((session) => session.close()));
    },
  };
};

/** Without an ID: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server */
const refuse = (
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ jsonrpc: "2.0", error: { code, message } }, { status, headers });
