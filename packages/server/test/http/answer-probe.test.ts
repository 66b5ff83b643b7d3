import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { answerProbe } from "../../src/http/answer-probe.ts";
import { createRequestGuard } from "../../src/http/request-guard.ts";

const state = { ready: true, store: "ok", draining: false, unavailable: ["aws"], version: "1.2.3" } as const;

interface Case {
  readonly from: string;
  readonly host?: string;
  readonly origin?: string;
  readonly token?: string;
  readonly allowedHosts?: readonly string[];
}

const readyz = async ({
  from,
  host = "10.244.1.17:3000",
  origin,
  token,
  allowedHosts = [],
}: Case): Promise<unknown> => {
  const headers = {
    host,
    ...(origin === undefined ? {} : { origin }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const parts = {
    readiness: async () => state,
    guard: createRequestGuard({ host: "0.0.0.0", allowedHosts, allowedOrigins: [] }),
    isVerified: async ({ authorization }: IncomingHttpHeaders) => authorization === "Bearer good",
  };
  const answer = await answerProbe({ method: "GET", path: "/readyz", headers, from }, parts);
  return answer?.json();
};

describe("what is told beside the status", () => {
  test.each<[string, Case]>([
    ["on the same machine", { from: "127.0.0.1" }],
    ["on the same machine, by IPv6", { from: "::1" }],
    ["on the same machine, by IPv4 on a socket for both", { from: "::ffff:127.0.0.1" }],
    ["that is verified", { from: "10.0.0.9", token: "good" }],
    [
      "on the same machine, by a name that is allowed",
      { from: "::1", host: "mcp.example", allowedHosts: ["mcp.example"] },
    ],
  ])("a caller %s hears it all", async (_case, request) => {
    expect(await readyz(request)).toEqual(state);
  });

  test.each<[string, Case]>([
    ["from elsewhere", { from: "10.0.0.9" }],
    [
      "from elsewhere, by a name that is allowed",
      { from: "10.0.0.9", host: "mcp.example", allowedHosts: ["mcp.example"] },
    ],
    ["whose token is wrong", { from: "10.0.0.9", token: "bad" }],
    ["by another name", { from: "127.0.0.1", allowedHosts: ["mcp.example"] }],
    ["that is a page", { from: "127.0.0.1", origin: "https://evil.example" }],
    ["that is a page with a token", { from: "10.0.0.9", token: "good", origin: "https://evil.example" }],
    ["of no known address", { from: "" }],
  ])("a caller %s does not", async (_case, request) => {
    expect(await readyz(request)).toEqual({ ready: true });
  });
});
