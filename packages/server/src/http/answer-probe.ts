import type { IncomingHttpHeaders } from "node:http";
import type { Readiness } from "../health/readiness.ts";
import { refuse } from "../refuse.ts";
import type { RequestGuard } from "./request-guard.ts";

export interface ProbeParts {
  readonly readiness: () => Promise<Readiness>;
  readonly guard: RequestGuard;
}

type AnswerProbe = (headers: IncomingHttpHeaders, parts: ProbeParts) => Promise<Response>;

/** Beside the path of MCP: for those who watch over servers, who are not verified and call a server by whatever address it has. */
const probes: Readonly<Record<string, AnswerProbe>> = {
  // That it is answered is the answer: a store or a backend that is away is not mended by a restart of this process.
  "/healthz": async () => toAnswer(200, { alive: true }),
  "/readyz": async (headers, { readiness, guard }) => {
    const state = await readiness();
    const { ready } = state;
    // Any page could have its name point here and read the answer (DNS rebinding): it learns what the status says already.
    return toAnswer(ready ? 200 : 503, guard(headers) === undefined ? state : { ready });
  },
};

export const isProbePath = (path: string): boolean => Object.hasOwn(probes, path);

/** The answer to a request for one of the paths of probes; undefined for any other path. */
export const answerProbe = async (
  {
    method,
    path,
    headers,
  }: { readonly method: string | undefined; readonly path: string; readonly headers: IncomingHttpHeaders },
  parts: ProbeParts,
): Promise<Response | undefined> => {
  if (!isProbePath(path)) return undefined;
  if (method !== "GET" && method !== "HEAD")
    return refuse(405, "Method not allowed", { headers: { Allow: "GET, HEAD" } });
  return probes[path]?.(headers, parts);
};

const toAnswer = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
