import type { Exchange, HttpGroup } from "./http-exchange.ts";

const rpc = (more: object): object => ({ jsonrpc: "2.0", ...more });
const ping = rpc({ id: 1, method: "ping" });
const json = "application/json";
const stream = "text/event-stream";
const otherSession = "00000000-0000-4000-8000-000000000000";
const initialize = (revision: unknown, more: object = {}): object =>
  rpc({
    id: 1,
    method: "initialize",
    params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" }, ...more },
  });
const outside = { "mcp-session-id": null };
const get = { method: "GET", headers: { accept: stream } } as const;

/** What each exchange sends unless it says otherwise: a ping in the session that its group has opened. */
export const message20251125: object = ping;
export const headers20251125: Readonly<Record<string, string>> = {
  authorization: "Bearer alice",
  "content-type": json,
  accept: `${json}, ${stream}`,
  "mcp-protocol-version": "2025-11-25",
};
/** Opens the session of a group. */
export const opening20251125: readonly Exchange[] = [
  ["initialize", { headers: { "mcp-protocol-version": null }, body: initialize("2025-11-25") }],
  ["initialized", { body: rpc({ method: "notifications/initialized" }) }],
];

export const http20251125: readonly HttpGroup[] = [
  {
    name: "methods",
    exchanges: [
      ["HEAD", { method: "HEAD" }],
      ["OPTIONS", { method: "OPTIONS" }],
      ["PUT", { method: "PUT", body: ping }],
      ["PATCH", { method: "PATCH", body: ping }],
      ["GET of another path", { method: "GET", path: "/other" }],
      ["POST to another path", { path: "/other" }],
      ["POST to the path with a query", { path: "/mcp?a=1" }],
      ["PUT outside of a session", { method: "PUT", body: ping, headers: outside }],
    ],
  },
  {
    name: "accept-and-content-type",
    exchanges: [
      ["no Accept", { headers: { accept: null } }],
      ["Accept of JSON only", { headers: { accept: json } }],
      ["Accept of streams only", { headers: { accept: stream } }],
      ["Accept of anything", { headers: { accept: "*/*" } }],
      ["Accept in another order and case", { headers: { accept: "Text/Event-Stream;q=0.5, APPLICATION/JSON" } }],
      ["GET that accepts JSON only", { method: "GET", headers: { accept: json } }],
      ["GET that accepts anything", { method: "GET", headers: { accept: "*/*" }, leave: true }],
      [
        "initialize with Accept of JSON only",
        { headers: { ...outside, accept: json }, body: initialize("2025-11-25") },
      ],
      ["no content type", { headers: { "content-type": null } }],
      ["text as content type", { headers: { "content-type": "text/plain" } }],
      ["content type with a charset", { headers: { "content-type": "application/json; charset=utf-8" } }],
      ["content type that only begins like JSON", { headers: { "content-type": "application/json-patch+json" } }],
    ],
  },
  {
    name: "body",
    exchanges: [
      ["empty", { body: "" }],
      ["no JSON", { body: "{" }],
      ["a text", { body: '"ping"' }],
      ["a number", { body: "7" }],
      ["null", { body: "null" }],
      ["an empty object", { body: "{}" }],
      ["a batch", { body: [ping, rpc({ id: 2, method: "ping" })] }],
      ["an empty batch", { body: [] }],
      ["a batch of numbers", { body: [1, 2] }],
      ["no jsonrpc", { body: { id: 1, method: "ping" } }],
      ["jsonrpc 1.0", { body: { jsonrpc: "1.0", id: 1, method: "ping" } }],
      ["a method that is a number", { body: rpc({ id: 1, method: 7 }) }],
      ["params that are a list", { body: rpc({ id: 1, method: "ping", params: [] }) }],
      ["an ID that is null", { body: rpc({ id: null, method: "ping" }) }],
      ["an ID that is a fraction", { body: rpc({ id: 1.5, method: "ping" }) }],
      ["an ID that is an object", { body: rpc({ id: {}, method: "ping" }) }],
      ["more bytes than allowed", { body: "x".repeat(100_001) }],
      ["more bytes than allowed, without a length", { body: "x".repeat(100_001), chunked: true }],
      [
        "an initialize that is too long",
        { body: initialize("2025-11-25", { pad: "x".repeat(65_536) }), headers: outside },
      ],
      ["what is no HTTP", { raw: "HELLO\r\n\r\n" }],
      ["no Host", { raw: "POST /mcp HTTP/1.1\r\nConnection: close\r\n\r\n" }],
    ],
  },
  {
    name: "messages",
    exchanges: [
      ["an unknown method", { body: rpc({ id: 1, method: "tasks/unknown" }) }],
      ["a method of 2026-07-28", { body: rpc({ id: 1, method: "server/discover" }) }],
      ["tasks/get without params", { body: rpc({ id: 1, method: "tasks/get" }) }],
      ["tools/call without params", { body: rpc({ id: 1, method: "tools/call" }) }],
      ["a second initialize", { body: initialize("2025-11-25") }],
      ["a notification of no meaning", { body: rpc({ method: "notifications/unknown" }) }],
      [
        "a cancellation of an unknown request",
        { body: rpc({ method: "notifications/cancelled", params: { requestId: 9 } }) },
      ],
      ["a cancellation without params", { body: rpc({ method: "notifications/cancelled" }) }],
      ["a result that nobody has asked for", { body: rpc({ id: 9, result: {} }) }],
      ["an error that nobody has asked for", { body: rpc({ id: 9, error: { code: 1, message: "no" } }) }],
      ["a result without an ID", { body: rpc({ result: {} }) }],
      ["a result and an error at once", { body: rpc({ id: 9, result: {}, error: { code: 1, message: "no" } }) }],
    ],
  },
  {
    name: "version",
    exchanges: [
      ["no version header", { headers: { "mcp-protocol-version": null } }],
      ["an empty version header", { headers: { "mcp-protocol-version": "" } }],
      ["an unknown version", { headers: { "mcp-protocol-version": "2024-01-01" } }],
      ["another version than negotiated", { headers: { "mcp-protocol-version": "2025-06-18" } }],
      ["the first version", { headers: { "mcp-protocol-version": "2024-11-05" } }],
      ["a later version without its members", { headers: { "mcp-protocol-version": "2026-07-28" } }],
      ["GET with an unknown version", { ...get, headers: { accept: stream, "mcp-protocol-version": "2024-01-01" } }],
      ["initialize of an unknown revision", { headers: outside, body: initialize("2099-01-01") }],
      ["initialize of the first revision", { headers: outside, body: initialize("2024-11-05") }],
      ["initialize with a revision that is a number", { headers: outside, body: initialize(7) }],
      ["initialize without params", { headers: outside, body: rpc({ id: 1, method: "initialize" }) }],
    ],
  },
  {
    name: "callers",
    exchanges: [
      ["no token", { headers: { authorization: null } }],
      ["a wrong token", { headers: { authorization: "Bearer mallory" } }],
      ["a token of another owner in the session", { headers: { authorization: "Bearer bob" } }],
      ["GET of another owner", { ...get, headers: { accept: stream, authorization: "Bearer bob" } }],
      ["DELETE of another owner", { method: "DELETE", headers: { authorization: "Bearer bob" } }],
      ["a foreign Host", { headers: { host: "evil.example" } }],
      ["a Host that is no name", { headers: { host: "a b" } }],
      ["a foreign Origin", { headers: { origin: "https://evil.example" } }],
      ["an Origin of null", { headers: { origin: "null" } }],
      ["an Origin of this machine", { headers: { origin: "http://localhost:5173" } }],
      ["a preflight of a foreign page", { method: "OPTIONS", headers: { origin: "https://evil.example" } }],
    ],
  },
  {
    name: "session",
    exchanges: [
      ["no session", { headers: outside }],
      ["an unknown session", { headers: { "mcp-session-id": otherSession } }],
      ["a session of another form", { headers: { "mcp-session-id": "no/session" } }],
      ["a notification outside of a session", { headers: outside, body: rpc({ method: "notifications/initialized" }) }],
      ["initialize in a session", { body: initialize("2025-11-25") }],
      [
        "initialize in an unknown session",
        { headers: { "mcp-session-id": otherSession }, body: initialize("2025-11-25") },
      ],
      ["GET outside of a session", { method: "GET", headers: { ...outside, accept: stream } }],
      ["GET of an unknown session", { method: "GET", headers: { accept: stream, "mcp-session-id": otherSession } }],
      ["GET", { ...get, hold: true }],
      ["a second GET", { ...get, leave: true }],
      [
        "GET with a Last-Event-ID of no meaning",
        { method: "GET", headers: { accept: stream, "last-event-id": "7" }, leave: true },
      ],
      ["POST with a Last-Event-ID", { headers: { "last-event-id": "7" } }],
      ["DELETE outside of a session", { method: "DELETE", headers: outside }],
      ["DELETE of an unknown session", { method: "DELETE", headers: { "mcp-session-id": otherSession } }],
      ["DELETE", { method: "DELETE" }],
      ["a second DELETE", { method: "DELETE" }],
      ["POST after the DELETE", {}],
      ["GET after the DELETE", get],
    ],
  },
];
