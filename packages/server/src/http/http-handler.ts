import {
  type AuthInfo,
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { type Authenticator, toChallenge } from "../auth/authenticator.ts";
import { type OwnerPolicy, readOwner, toAuthInfo, toOwner } from "../caller.ts";
import { createHttpListen } from "../listen/http-listen.ts";
import type { ListenContext } from "../listen/open-subscription.ts";
import { refuse, refuseTooLarge } from "../refuse.ts";
import { createHttp2025 } from "../rev-2025/http-2025.ts";
import { answerPoll, claimsPoll, type PollHeaders } from "../rev-2026-07-28/answer-poll.ts";
import { createServerFactory } from "../rev-2026-07-28/server-factory.ts";

/** The server as a web-standard handler. */
export interface HttpHandler {
  /** `authInfo`: of a caller that was verified before; else the server's own authenticator is asked, if there is one. */
  fetch(request: Request, options?: { readonly authInfo?: AuthInfo }): Promise<Response>;
  /** For those who must know before they read a body. Undefined: nobody needs to be verified. */
  authenticate(headers: Readonly<Record<string, string | undefined>>): Promise<Authenticated>;
  /**
   * Answers a poll of 2026-07-28 from its headers and body as they came, of a caller that was verified before: the JSON of an
   * answer with 200. Undefined: `fetch` is to answer.
   */
  poll(headers: PollHeaders, body: readonly Buffer[], authInfo: AuthInfo | undefined): Promise<string | undefined>;
  toolsChanged(): void;
  /** Ends subscriptions, saying so. */
  endStreams(): void;
  /** Gives up what is still under way. */
  close(): Promise<void>;
}

export type Authenticated = { readonly authInfo: AuthInfo | undefined } | { readonly refusal: Response };

export interface HttpHandlerOptions {
  readonly policy: OwnerPolicy;
  readonly auth: Authenticator | undefined;
}

const namesNoSubject = { error: "invalid_token", description: "The token names nobody" };

export const createHttpHandler = (context: ListenContext, { policy, auth }: HttpHandlerOptions): HttpHandler => {
  const { log } = context.serve;
  const handler = createMcpHandler(createServerFactory(context.serve, "http", policy), {
    legacy: "reject",
    onerror: (error) => log.debug({ err: error }, "a request was refused"),
    maxRequestBodySize: context.limits.maxBodyBytes,
    keepAliveMs: context.keepAliveMs,
  });
  const listen = createHttpListen(context, handler.fetch);
  const legacy = createHttp2025(context);
  const authenticate: HttpHandler["authenticate"] = async (headers) => {
    if (auth === undefined) return { authInfo: undefined };
    try {
      const outcome = await auth.authenticate(headers);
      const owner = "identity" in outcome ? toOwner(outcome.identity) : undefined;
      if ("identity" in outcome && owner !== undefined) return { authInfo: toAuthInfo(outcome.identity, owner) };
      const refused = "refused" in outcome ? outcome.refused : namesNoSubject;
      return { refusal: refuse(401, refused.description, { headers: { "WWW-Authenticate": toChallenge(refused) } }) };
    } catch (error) {
      log.error({ err: error }, "callers cannot be verified");
      return { refusal: refuse(503, "Callers cannot be verified at present", { retryAfterMs: 1_000 }) };
    }
  };
  return {
    authenticate,
    fetch: async (request, { authInfo: given } = {}) => {
      const verified =
        given === undefined ? await authenticate(Object.fromEntries(request.headers)) : { authInfo: given };
      if ("refusal" in verified) return verified.refusal;
      const { authInfo } = verified;
      const owner = readOwner(authInfo, policy);
      const read = await readJson(request, context.limits.maxBodyBytes);
      if ("refusal" in read) return read.refusal;
      const { parsedBody } = read;
      if (read.isReadable && (await isLegacyRequest(request, parsedBody))) {
        return legacy.fetch(request, { owner, authInfo, parsedBody });
      }
      return listen.fetch(request, owner, {
        ...(authInfo === undefined ? {} : { authInfo }),
        ...(parsedBody === undefined ? {} : { parsedBody }),
      });
    },
    poll: async (headers, body, authInfo) => {
      if (!claimsPoll(context.serve, headers)) return undefined;
      return answerPoll(context.serve, readOwner(authInfo, policy), headers, Buffer.concat(body).toString());
    },
    toolsChanged: () => {
      handler.notify.toolsChanged();
      legacy.toolsChanged();
    },
    endStreams: () => {
      listen.endAll();
      legacy.endStreams();
    },
    close: async () => {
      await Promise.all([handler.close(), legacy.close()]);
    },
  };
};

type ReadBody =
  /** `isReadable`: false for a POST whose content type the SDK is to refuse. */
  { readonly isReadable: boolean; readonly parsedBody?: unknown } | { readonly refusal: Response };

/** Read once, for whoever answers. */
const readJson = async (request: Request, maxBodyBytes: number): Promise<ReadBody> => {
  if (request.method !== "POST") return { isReadable: true };
  if (!isJsonContentType(request.headers.get("content-type"))) return { isReadable: false };
  const body = await readRequestBody(request, maxBodyBytes);
  if (body.tooLarge) return { refusal: refuseTooLarge(maxBodyBytes) };
  try {
    return { isReadable: true, parsedBody: JSON.parse(body.text) };
  } catch {
    return { refusal: refuse(400, "Parse error: the request body is not valid JSON", { code: -32_700 }) };
  }
};
