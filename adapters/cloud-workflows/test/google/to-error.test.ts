import { describe, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import { toError } from "../../src/google/to-error.ts";

const start = { action: "workflows.executions.create", ifSent: "outcome_unknown" } as const;

/** As Google's client throws what a gateway or the API has answered. */
const http = (status: number, message: string, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error(message), { status, code: status, response: { headers: new Headers(headers) } });
const api = (code: number, status: string, message = "", details: readonly object[] = []): string =>
  JSON.stringify({ error: { code, status, message, details } });

describe("what Google refuses has not been done", () => {
  test.each([
    [http(400, api(400, "INVALID_ARGUMENT", "bad label")), "invalid_input"],
    [http(401, api(401, "UNAUTHENTICATED")), "unavailable"],
    [http(403, api(403, "PERMISSION_DENIED")), "denied"],
    [http(404, api(404, "NOT_FOUND")), "not_found"],
    [http(400, api(400, "FAILED_PRECONDITION", "not active")), "conflict"],
    [http(429, "<html>slow down</html>"), "throttled"],
    [http(501, api(501, "UNIMPLEMENTED")), "unsupported"],
    [http(418, api(418, "TEAPOT")), "bad_response"],
    [Object.assign(new Error("gone"), { code: 5 }), "not_found"],
    [Object.assign(new Error("quota"), { code: 8 }), "throttled"],
  ])("%#", (error, code) => {
    expect(toError(error, start)).toMatchObject({ code, notSent: true });
  });
});

describe("what may have been done is of unknown outcome", () => {
  test.each([
    [http(500, api(500, "INTERNAL"))],
    [http(502, "<html>bad gateway</html>")],
    [http(503, api(503, "UNAVAILABLE"))],
    [http(504, api(504, "DEADLINE_EXCEEDED"))],
    [http(408, "timeout")],
    // Of a proxy: only Google itself knows what is not there, not allowed, or not begun.
    [http(400, "<html>nothing here</html>")],
    [http(403, "<html>nothing here</html>")],
    [http(404, "<html>nothing here</html>")],
    [http(409, "<html>nothing here</html>")],
    [http(410, "<html>nothing here</html>")],
    [http(412, "<html>nothing here</html>")],
    [http(418, "<html>nothing here</html>")],
    [http(404, '{"error":"not found"}')],
    [http(404, '{"error":{"code":404,"message":"no route"}}')],
    [http(409, api(409, "ABORTED"))],
    [Object.assign(new Error("x"), { code: 14 })],
    [Object.assign(new Error("request to https://x failed"), { code: "ECONNRESET" })],
    [new SyntaxError("Unexpected token <")],
    [
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
      }),
    ],
    [new DOMException("late", "AbortError")],
    ["a text"],
    [undefined],
  ])("%#", (error) => {
    expect(toError(error, start)).toMatchObject({ code: "outcome_unknown", notSent: false });
  });
});

test.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"])("what never had a connection was not sent: %s", (code) => {
  const cause = Object.assign(new Error(code), { code });
  expect(toError(new TypeError("fetch failed", { cause }), start)).toMatchObject({
    code: "unavailable",
    notSent: true,
  });
});

test("names the host that is not reached, and the workflow that is not there", () => {
  const messageOf = (error: object, about?: string): string =>
    toError(error, about === undefined ? start : { ...start, about }).message;
  const refused = { code: "ECONNREFUSED", address: "127.0.0.1", port: 8787 };
  expect(messageOf({ code: "ENOTFOUND", hostname: "workflows.googleapis.com" })).toMatch(
    /create: ENOTFOUND workflows\.googleapis\.com$/,
  );
  expect(messageOf({ cause: refused })).toMatch(/: ECONNREFUSED 127\.0\.0\.1:8787$/);
  expect(messageOf({ code: "ECONNREFUSED", errors: [refused, {}] })).toMatch(/: ECONNREFUSED 127\.0\.0\.1:8787$/);
  const missing = http(404, api(404, "NOT_FOUND"));
  expect(messageOf(missing, "workflow projects/p")).toBe(`there is no workflow projects/p: ${start.action}`);
  expect(messageOf(missing)).toBe(`no such execution or workflow, project or location: ${start.action}`);
});

test("waits as long as Google says, by whichever of its ways", () => {
  const retryInfo = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3.5s" }];
  expect(toError(http(429, api(429, "RESOURCE_EXHAUSTED", "", retryInfo)), start).retryAfterMs).toBe(3_500);
  expect(toError(http(429, "{}", { "retry-after": "7" }), start).retryAfterMs).toBe(7_000);
  expect(toError(http(429, "{}", { "retry-after": "99999" }), start).retryAfterMs).toBe(300_000);
  expect(toError(http(429, "{}"), start).retryAfterMs).toBe(2_000);
  const grpc = { code: 8, statusDetails: [{ retryDelay: { seconds: "4", nanos: 0 } }] };
  expect(toError(Object.assign(new Error("quota"), grpc), start).retryAfterMs).toBe(4_000);
});

test("names what is lacking, and what else a refusal may mean", () => {
  const denied = (message: string): string => toError(http(403, api(403, "PERMISSION_DENIED", message)), start).message;
  expect(denied("Permission 'workflows.workflows.get' denied on resource (or it may not exist).")).toContain(
    "workflows.workflows.get",
  );
  expect(denied("The caller does not have permission")).toContain("workflows.executions.create");
  expect(denied("Workflow Executions API has not been used in project 1 before or it is disabled.")).toContain(
    "not enabled",
  );
  expect(denied("Location europe-west99 is not found or access is unauthorized.")).toContain("no such location");
});

test("repeats no address, and nothing that breaks a line", () => {
  const text = "bad https://host/v1/projects/p/callbacks/c\u0000\nvalue";
  const { message } = toError(http(400, api(400, "INVALID_ARGUMENT", text)), start);
  expect(message).toBe("Google refuses what was sent with workflows.executions.create: bad [address] value");
});

test("leaves what is an error of ours", () => {
  const known = new BridgeError("conflict", "ours");
  expect(toError(known, start)).toBe(known);
});
