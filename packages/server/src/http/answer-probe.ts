import type { IncomingHttpHeaders } from "node:http";
import type { Readiness } from "../health/readiness.ts";
import { refuse } from "../refuse.ts";
import { isLoopback } from "./loopback.ts";
import type { RequestGuard } from "./request-guard.ts";

export interface ProbeParts {
  readonly readiness: () => Promise<Readiness>;
  readonly guard: RequestGuard;
  /** Whether a caller is verified. False where nobody can be. */
  readonly isVerified: (headers: IncomingHttpHeaders) => Promise<boolean>;
}

export interface ProbeRequest {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The address that it came from. */
  readonly from: string | undefined;
}

type AnswerProbe = (request: ProbeRequest, parts: ProbeParts) => Promise<Response>;

/** Beside the path of MCP: for those who watch over servers, who are not verified and call a server by whatever address it has. */
const probes: Readonly<Record<string, AnswerProbe>> = {
  // That it is answered is the answer: a store or a backend that is away is not mended by a restart of this process.
  "/healthz": async () => toAnswer(200, { alive: true }),
  "/readyz": async (request, parts) => {
    const [state, mayShow] = await Promise.all([parts.readiness(), mayKnow(request, parts)]);
    const { ready } = state;
    return toAnswer(ready ? 200 : 503, mayShow ? state : { ready });
  },
};

export const isProbePath = (path: string): boolean => Object.hasOwn(probes, path);

/** The answer to a request for one of the paths of probes; undefined for any other path. */
export const answerProbe = async (request: ProbeRequest, parts: ProbeParts): Promise<Response | undefined> => {
  const { method, path } = request;
  if (!isProbePath(path)) return undefined;
  if (method !== "GET" && method !== "HEAD")
    return refuse(405, "Method not allowed", { headers: { Allow: "GET, HEAD" } });
  return probes[path]?.(request, parts);
};

/** A proxy on this machine names by these whom it speaks for. */
const forwardHeaders = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/**
 * Strangers learn what the status says already. So do pages, which could have their name point at this machine and read the
 * answer (DNS rebinding).
 */
const mayKnow = async ({ headers, from = "" }: ProbeRequest, { guard, isVerified }: ProbeParts): Promise<boolean> => {
  if (guard(headers) !== undefined) return false;
  const isFromHere = !forwardHeaders.some((name) => headers[name] !== undefined);
  return (isFromHere && isLoopback(from.replace(/^::ffff:/i, ""))) || (await isVerified(headers));
};

const toAnswer = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
