import type { McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import { listenMethod, parseListenRequest, type WireMessage } from "@taskbridge/protocol/tasks-2026-07-28";
import type { Owner } from "../caller.ts";
import { createGate } from "./gate.ts";
import { type ListenStream, openListenStream } from "./listen-stream.ts";
import { type ListenContext, openSubscription } from "./open-subscription.ts";

type Fetch = (request: Request, options?: McpHandlerRequestOptions) => Promise<Response>;

export interface HttpListen {
  /** Answers any request, by the SDK unless it subscribes to tasks. */
  fetch(request: Request, owner: Owner, options?: McpHandlerRequestOptions): Promise<Response>;
  /** Ends every stream, saying so. */
  endAll(): void;
}

/**
 * Adds tasks to the SDK's `subscriptions/listen`. The SDK still sees every request and checks version, headers, envelope
 * and filter; only an answer that it would stream is then taken over.
 */
export const createHttpListen = (context: ListenContext, sdkFetch: Fetch): HttpListen => {
  const streams = new Set<ListenStream>();
  return {
    fetch: async (request, owner, options) => {
      // The SDK refuses a subscription without this header, so no other request needs to be looked into.
      if (!context.serve.wires.has("2026-07-28") || request.headers.get("mcp-method") !== listenMethod) {
        return sdkFetch(request, options);
      }
      const copy = options?.parsedBody === undefined ? request.clone() : undefined;
      const answer = await sdkFetch(request, options);
      if (answer.body === null || !isStream(answer)) {
        copy?.body?.cancel().catch(() => {});
        return answer;
      }
      const message: unknown = copy === undefined ? options?.parsedBody : await copy.json();
      const { signal } = request;
      const expiresAt = options?.authInfo?.expiresAt;
      return listenTo(context, streams, { message, owner, answer, body: answer.body, signal, expiresAt });
    },
    endAll: () => {
      for (const stream of [...streams]) stream.end(true);
    },
  };
};

const isStream = (answer: Response): boolean =>
  answer.status === 200 && answer.headers.get("content-type")?.startsWith("text/event-stream") === true;

interface Accepted {
  readonly message: unknown;
  readonly owner: Owner;
  readonly answer: Response;
  readonly body: ReadableStream<Uint8Array>;
  readonly signal: AbortSignal;
  /** Seconds since 1970 after which the caller must be verified anew. */
  readonly expiresAt: number | undefined;
}

const listenTo = async (
  context: ListenContext,
  streams: Set<ListenStream>,
  { message, owner, answer, body, signal, expiresAt }: Accepted,
): Promise<Response> => {
  const request = parseListenRequest(message);
  if (request === undefined) return answer;
  const gate = createGate();
  const opened = await openSubscription(context, request, owner, gate.open);
  if ("refusal" in opened) {
    body.cancel().catch(() => {});
    return refuse(opened.refusal.status, opened.refusal.message);
  }
  const stream = openListenStream(context, {
    subscriptionId: request.id,
    sdk: body,
    feed: opened.feed,
    gate,
    closed: () => {
      forgetExpiry();
      stopping.removeEventListener("abort", stop);
      signal.removeEventListener("abort", abort);
      streams.delete(stream);
    },
  });
  const abort = (): void => stream.end(false);
  const stop = (): void => stream.end(true);
  const { clock, stopping } = context.serve;
  const forgetExpiry = expiresAt === undefined ? () => {} : clock.schedule(expiresAt * 1000 - clock.now(), stop);
  streams.add(stream);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  stopping.addEventListener("abort", stop, { once: true });
  if (stopping.aborted) stop();
  return new Response(stream.body, { status: 200, headers: answer.headers });
};

const refuse = (status: number, message: WireMessage): Response => Response.json(message, { status });
