import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { Readiness } from "../health/readiness.ts";
import { refuse, refuseTooLarge } from "../refuse.ts";
import type { ServerLog } from "../server-log.ts";
import { answerProbe, type ProbeParts } from "./answer-probe.ts";
import { bind } from "./bind.ts";
import type { HttpHandler } from "./http-handler.ts";
import { dropBody, readBody } from "./request-body.ts";
import { createRequestGuard, type RequestGuardOptions } from "./request-guard.ts";

export interface HttpAddress extends RequestGuardOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly path: string;
}

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** From now on each connection is closed with its answer, so that its client's next request goes elsewhere. Refuses nothing. */
  leave(): void;
  /** Resolves once the requests have begun that the system holds already, and would refuse; after a while also when more come. */
  quiet(): Promise<void>;
  /** Takes no more requests. Resolves once those under way are answered. */
  drain(): Promise<void>;
  /** Closes what is left. */
  close(): Promise<void>;
}

export interface HttpListenOptions {
  readonly maxBodyBytes: number;
  readonly log: ServerLog;
  readonly readiness: () => Promise<Readiness>;
}

/** A turn of the event loop accepts one connection, and the next ones read its request. */
const calmTurns = 4;
/** Milliseconds. */
const maxQuietMs = 2_000;

/** Longer than the idle time of common load balancers, so that none sends into a connection that is being closed. */
const keepAliveTimeoutMs = 75_000;

/** Serves a face over Streamable HTTP. Rejects with `misconfigured` (`data.path`) when the address cannot be had. */
export const listenHttp = async (
  handler: HttpHandler,
  address: HttpAddress,
  { maxBodyBytes, log, readiness }: HttpListenOptions,
): Promise<HttpListener> => {
  const guard = createRequestGuard(address);
  const responses = new Set<ServerResponse>();
  /** Of connections and of requests. */
  let arrivals = 0;
  let isLeaving = false;
  let isDraining = false;
  const drained = new Set<() => void>();
  const serve = toNodeHandler(
    {
      fetch: async (request, options) => {
        const response = await handler.fetch(request, options);
        if (isLeaving) response.headers.set("connection", "close");
        return response;
      },
    },
    {
      maxRequestBodySize: maxBodyBytes,
      // A caller that breaks off, or sends what is no request, is not this server's trouble.
      onerror: (error) => log.debug({ err: error }, "a request was broken off"),
    },
  );
  const probed: ProbeParts = {
    guard,
    isVerified: async (headers) => {
      const verified = await handler.authenticate(headers as Readonly<Record<string, string | undefined>>);
      return "authInfo" in verified && verified.authInfo !== undefined;
    },
    readiness: async () => {
      const state = await readiness();
      return isDraining ? { ...state, ready: false, draining: true } : state;
    },
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split("?")[0] ?? "";
    const { method, headers } = request;
    const answered = await answerProbe({ method, path, headers, from: request.socket.remoteAddress }, probed);
    if (answered !== undefined) return send(request, response, answered);
    if (path !== address.path) return send(request, response, refuse(404, "Not found"));
    const fault = guard(headers);
    if (fault !== undefined) return send(request, response, refuse(403, fault));
    if (isDraining) return send(request, response, refuse(503, "The server is being stopped", { retryAfterMs: 1_000 }));
    const verified = await handler.authenticate(headers as Readonly<Record<string, string | undefined>>);
    if ("refusal" in verified) return send(request, response, verified.refusal);
    const body = await readBody(request, maxBodyBytes).catch((error: unknown) => {
      log.debug({ err: error }, "a request was broken off");
      return error instanceof Error ? error : new Error(String(error));
    });
    if (body instanceof Error) return void response.destroy();
    if (body === undefined) return send(request, response, refuseTooLarge(maxBodyBytes));
    const polled = method === "POST" ? await handler.poll(headers, body, verified.authInfo) : undefined;
    if (polled !== undefined) {
      const length = { "content-type": "application/json", "content-length": Buffer.byteLength(polled) };
      return void response.writeHead(200, { ...length, ...(isLeaving ? { connection: "close" } : {}) }).end(polled);
    }
    const { url } = request;
    await serve(
      {
        ...(method === undefined ? {} : { method }),
        ...(url === undefined ? {} : { url }),
        headers,
        ...(verified.authInfo === undefined ? {} : { auth: verified.authInfo }),
        [Symbol.asyncIterator]: async function* () {
          yield* body;
        },
      },
      response,
    );
  };
  const server = createServer((request, response) => {
    const { socket } = request;
    arrivals++;
    responses.add(response);
    response.once("finish", () => {
      // One that had begun before has promised its client to keep the connection.
      if (isLeaving) socket.end();
    });
    response.once("close", () => {
      responses.delete(response);
      if (responses.size > 0) return;
      for (const resolve of drained) resolve();
      drained.clear();
    });
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, "a request could not be answered");
      response.destroy();
    });
  });
  server.on("connection", () => {
    arrivals++;
  });
  server.keepAliveTimeout = keepAliveTimeoutMs;
  await bind(server, address);
  server.on("error", (error) => log.error({ err: error }, "the listener has failed"));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${toUrlHost(address.host)}:${port}${address.path}`,
    leave: () => {
      isLeaving = true;
    },
    quiet: async () => {
      const until = performance.now() + maxQuietMs;
      for (let calm = 0; calm < calmTurns && performance.now() < until; ) {
        const before = arrivals;
        await setImmediate();
        calm = arrivals === before ? calm + 1 : 0;
      }
    },
    drain: async () => {
      isLeaving = true;
      isDraining = true;
      server.close();
      if (responses.size > 0) {
        await new Promise<void>((resolve) => {
          drained.add(resolve);
        });
      }
    },
    close: () =>
      new Promise((resolve) => {
        if (!server.listening && responses.size === 0) resolve();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** What a client on this machine calls. */
const toUrlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::" || host === "") return "127.0.0.1";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
};

/** An answer to a request whose body has not been read, or not to its end. */
const send = async (request: IncomingMessage, response: ServerResponse, answer: Response): Promise<void> => {
  const text = await answer.text();
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    // A client that goes on sending has the whole answer meanwhile. The connection cannot be used again.
    "content-length": String(Buffer.byteLength(text)),
    connection: "close",
  });
  response.write(text);
  await dropBody(request);
  response.end();
};
