import { describe, expect, test } from "@jest/globals";
import { toClientError } from "../src/to-client-error.ts";

const rpc = (code: number, message: string, data?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message, ...(data === undefined ? {} : { data }) } });

/** A refusal of the message as a whole: it answers no request by its ID. */
const whole = (message: string, data: object): string =>
  JSON.stringify({ jsonrpc: "2.0", error: { code: -32_600, message, data } });

/** As `StreamableHTTPError` of SDK 1 says it: the status in `code`, the body in the message. */
const first = (status: number, body: string): Error =>
  Object.assign(new Error(`Streamable HTTP error: Error POSTing to endpoint: ${body}`), { code: status });
/** As `SdkHttpError` of SDK 2 does: a word in `code`, status and body in `data`. */
const second = (status: number, body: string): Error =>
  Object.assign(new Error(`Error POSTing to endpoint: ${body}`), {
    code: "CLIENT_HTTP_NOT_IMPLEMENTED",
    data: { status, statusText: "", text: body },
  });
const network = (code: string): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

const page = "<html><body>It works!</body></html>";

describe.each([
  ["SDK 1", first],
  ["SDK 2", second],
] as const)("HTTP errors of %s", (_name, toError) => {
  test.each<[string, number, string, boolean, object]>([
    [
      "a session that is not known",
      404,
      rpc(-32_001, "Session not found"),
      true,
      { code: "session_lost", notSent: true },
    ],
    ["a page, on a session", 404, page, true, { code: "session_lost" }],
    [
      "a method that is not known, on a session",
      404,
      rpc(-32_601, "no"),
      true,
      { code: "refused", rpc: { code: -32_601 } },
    ],
    ["404 where there are no sessions", 404, page, false, { code: "refused", httpStatus: 404 }],
    ["a refusal with a reason", 400, rpc(-32_602, "no such"), false, { code: "refused", rpc: { code: -32_602 } }],
    ["a page", 400, page, true, { code: "refused", httpStatus: 400 }],
    ["a token is needed", 401, "", true, { code: "refused", httpStatus: 401 }],
    ["it broke", 500, page, true, { code: "unreachable", httpStatus: 500, notSent: false }],
    ["it broke, with a reason", 502, rpc(-32_603, "no"), false, { code: "unreachable", httpStatus: 502 }],
    ["a proxy has nobody to ask", 503, page, false, { code: "unreachable", httpStatus: 503, notSent: false }],
    [
      "it takes no requests at present",
      503,
      whole("The server is being stopped", { retryAfterMs: 1_000 }),
      false,
      { code: "unreachable", httpStatus: 503, notSent: true, retryAfterMs: 1_000 },
    ],
    [
      "a gateway has lost it",
      503,
      JSON.stringify({ error: { code: 503 } }),
      false,
      { code: "unreachable", notSent: false },
    ],
    ["a gateway of MCP has lost it", 503, whole("upstream failed", {}), false, { code: "unreachable", notSent: false }],
    ["it gave up a request", 503, rpc(-32_603, "no"), false, { code: "unreachable", notSent: false }],
    ["it was too slow", 408, "", false, { code: "unreachable", httpStatus: 408, notSent: false }],
    [
      "it has too much to do",
      429,
      rpc(-32_000, "busy", { retryAfterMs: 1_500 }),
      true,
      { code: "unreachable", httpStatus: 429, notSent: true, retryAfterMs: 1_500 },
    ],
  ])("%s", (_what, status, body, legacy, expected) => {
    expect(toClientError(toError(status, body), legacy)).toMatchObject(expected);
  });
});

test.each<[string, boolean]>([
  ["ECONNREFUSED", true],
  ["ENOTFOUND", true],
  ["EAI_AGAIN", true],
  ["ECONNRESET", false],
  ["UND_ERR_SOCKET", false],
])("the network: %s", (code, notSent) => {
  const error = toClientError(network(code), true);
  expect(error).toMatchObject({ code: "unreachable", notSent });
  expect(error.message).toContain(code);
});

test("an answer that SDK 2 throws is a refusal", () => {
  const thrown = Object.assign(new Error("no"), { code: -32_602, data: { path: "a" } });
  expect(toClientError(thrown, false)).toMatchObject({
    code: "refused",
    rpc: { code: -32_602, message: "no", data: { path: "a" } },
  });
});

test.each<[unknown, string]>([
  ["a text", "a text"],
  [undefined, "undefined"],
  [{ code: 99_999 }, "[object Object]"],
])("%j is thrown by nobody, and told all the same", (thrown, message) => {
  expect(toClientError(thrown, true)).toMatchObject({ code: "unreachable", message });
});
