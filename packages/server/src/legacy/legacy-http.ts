import { type AuthInfo, isInitializeRequest } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import type { Owner } from "../caller.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { refuse } from "../refuse.ts";
import { type HttpSession, openHttpSession } from "./http-session.ts";
import { createSessionTable, type SessionPlace } from "./session-table.ts";

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

const sessionHeader = "mcp-session-id";

export const createLegacyHttp = (context: ListenContext): LegacyHttp => {
  const { limits } = context;
  const { clock, log } = context.serve;
  const table = createSessionTable<HttpSession>(limits, clock);

  const initialize = async (
    request: Request,
    { owner, authInfo, parsedBody }: LegacyFetchOptions,
  ): Promise<Response> => {
    let place: SessionPlace<HttpSession>;
    try {
      place = table.reserve(owner);
    } catch (error) {
      if (!isBridgeError(error)) throw error;
      log.warn({ limit: error.data?.limit }, "a session was refused");
      return refuse(503, error.message, { code: -32_000, headers: { "Retry-After": "1" } });
    }
    try {
      const opened = await openHttpSession(context, owner, place, table.remove);
      const response = await opened.post(request, parsedBody, authInfo);
      if (!opened.hasBegun()) await opened.close();
      return response;
    } finally {
      place.giveUp();
    }
  };
  return {
    fetch: async (request, options) => {
      const { owner, authInfo, parsedBody } = options;
      const id = request.headers.get(sessionHeader);
      if (id === null) {
        if (request.method === "POST" && isInitializeRequest(parsedBody)) return initialize(request, options);
        const message = "Bad Request: the Mcp-Session-Id header is required, as the answer to initialize gave it";
        return refuse(400, message, { code: -32_000 });
      }
      const kept = table.find(id, owner);
      if (kept === undefined) return refuse(404, "Session not found", { code: -32_001 });
      if (request.method === "GET") return kept.listen(request, authInfo);
      return request.method === "POST" ? kept.post(request, parsedBody, authInfo) : kept.other(request);
    },
    toolsChanged: () => {
      for (const { session } of table.all()) {
        session.link.notify("notifications/tools/list_changed", {}).catch((error: unknown) => {
          log.debug({ err: error }, "a client could not be told about the tools");
        });
      }
    },
    endStreams: () => {
      for (const session of table.all()) session.endWaiting();
    },
    close: async () => {
      const sessions = table.all();
      table.close();
      await Promise.all(sessions.map((session) => session.close()));
    },
  };
};
