import { type AuthInfo, isInitializeRequest } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { refuse, refuseTooLarge } from "../refuse.ts";
import { readIntroduction } from "./session-id.ts";
import { createSessionOpener } from "./session-opener.ts";

export interface FetchOptions2025 {
  readonly owner: Owner;
  readonly authInfo: AuthInfo | undefined;
  /** Of a POST. */
  readonly parsedBody: unknown;
}

/** Serves clients of the 2025 revisions over Streamable HTTP, each in a session. */
export interface Http2025 {
  fetch(request: Request, options: FetchOptions2025): Promise<Response>;
  toolsChanged(): void;
  /** Ends what waits for news, so that its client comes back. */
  endStreams(): void;
  close(): Promise<void>;
}

const sessionHeader = "mcp-session-id";

/**
 * The most bytes of an `initialize`. The SDK's schemas walk through what a client declares several times, which takes seconds
 * for some megabytes.
 */
const maxInitialize = 65_536;

const isOversized = (body: unknown): boolean =>
  typeof body === "object" &&
  body !== null &&
  "method" in body &&
  body.method === "initialize" &&
  Buffer.byteLength(JSON.stringify(body)) > maxInitialize;

export const createHttp2025 = (context: ListenContext): Http2025 => {
  const { log } = context.serve;
  const sessions = createSessionOpener(context);

  const serve = async (request: Request, { owner, authInfo, parsedBody }: FetchOptions2025): Promise<Response> => {
    if (request.method === "POST" && isOversized(parsedBody)) return refuseTooLarge(maxInitialize);
    const id = request.headers.get(sessionHeader);
    if (id === null) {
      if (request.method === "POST" && isInitializeRequest(parsedBody)) {
        const introduction = readIntroduction(parsedBody.params);
        return sessions.begin(owner, introduction, (session) => session.post(request, parsedBody, authInfo));
      }
      const message = "Bad Request: the Mcp-Session-Id header is required, as the answer to initialize gave it";
      return refuse(400, message, { code: -32_000 });
    }
    const kept = await sessions.find(id, owner);
    if (kept === undefined) return refuse(404, "Session not found", { code: -32_001 });
    if (request.method === "GET") return kept.listen(request, authInfo);
    if (request.method === "POST") return kept.post(request, parsedBody, authInfo);
    const response = await kept.other(request);
    if (request.method === "DELETE" && response.ok) sessions.forget(id, owner);
    return response;
  };
  return {
    fetch: async (request, options) => {
      try {
        return await serve(request, options);
      } catch (error) {
        if (!isBridgeError(error) || error.code !== "limit_exceeded") throw error;
        log.warn({ limit: error.data?.limit }, "a session was refused");
        return refuse(503, error.message, { code: -32_000, retryAfterMs: error.retryAfterMs ?? 1_000 });
      }
    },
    toolsChanged: () => {
      for (const { session } of sessions.all()) {
        session.link.notify("notifications/tools/list_changed", {}).catch((error: unknown) => {
          log.debug({ err: error }, "a client could not be told about the tools");
        });
      }
    },
    endStreams: () => {
      for (const session of sessions.all()) session.endWaiting();
    },
    close: async () => {
      const open = sessions.all();
      sessions.close();
      await Promise.all(open.map((session) => session.close()));
    },
  };
};
