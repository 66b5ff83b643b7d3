import { toRequest } from "../rpc-client.ts";
import type { HttpGroup } from "./http-exchange.ts";

const json = "application/json";
const stream = "text/event-stream";
const say = (method: string, params: Record<string, unknown> = {}, tasks = true): object =>
  toRequest(method, params, { id: 1, tasks });
const discover = say("server/discover");
const poll = { body: say("tasks/get", { taskId: "0123456789abcdef" }) };
const pollHeaders = { "mcp-method": "tasks/get", "mcp-name": "0123456789abcdef" };
const call = { body: say("tools/call", { name: "nope", arguments: {} }) };
const callHeaders = { "mcp-method": "tools/call", "mcp-name": "nope" };
const rpc = (more: object): object => ({ jsonrpc: "2.0", ...more });
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const withMeta = (more: object): object =>
  rpc({ id: 1, method: "server/discover", params: { _meta: { ...meta, ...more } } });
const listen = {
  body: say("subscriptions/listen", { notifications: { toolsListChanged: true } }),
  headers: { "mcp-method": "subscriptions/listen" },
};

/** What each exchange sends unless it says otherwise. */
export const message20260728: object = discover;
export const headers20260728: Readonly<Record<string, string>> = {
  authorization: "Bearer alice",
  "content-type": json,
  accept: `${json}, ${stream}`,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "server/discover",
};

export const http20260728: readonly HttpGroup[] = [
  {
    name: "methods",
    exchanges: [
      ["GET", { method: "GET" }],
      ["GET of a stream", { method: "GET", headers: { accept: stream } }],
      ["GET with a Last-Event-ID", { method: "GET", headers: { accept: stream, "last-event-id": "7" } }],
      ["DELETE", { method: "DELETE" }],
      ["HEAD", { method: "HEAD" }],
      ["OPTIONS", { method: "OPTIONS" }],
      ["PUT", { method: "PUT", body: discover }],
      ["PATCH", { method: "PATCH", body: discover }],
      ["POST to another path", { path: "/other" }],
      ["POST to the path with a query", { path: "/mcp?a=1" }],
      ["POST with a session", { headers: { "mcp-session-id": "00000000-0000-4000-8000-000000000000" } }],
      ["POST with a Last-Event-ID", { headers: { "last-event-id": "7" } }],
    ],
  },
  {
    name: "accept-and-content-type",
    exchanges: [
      ["no Accept", { headers: { accept: null } }],
      ["Accept of JSON only", { headers: { accept: json } }],
      ["Accept of streams only", { headers: { accept: stream } }],
      ["Accept of anything", { headers: { accept: "*/*" } }],
      ["Accept of text", { headers: { accept: "text/plain" } }],
      ["a poll without Accept", { ...poll, headers: { ...pollHeaders, accept: null } }],
      ["a poll with Accept of text", { ...poll, headers: { ...pollHeaders, accept: "text/plain" } }],
      [
        "a subscription with Accept of JSON only",
        { ...listen, headers: { ...listen.headers, accept: json }, leave: true },
      ],
      ["a subscription", { ...listen, leave: true }],
      ["no content type", { headers: { "content-type": null } }],
      ["text as content type", { headers: { "content-type": "text/plain" } }],
      ["content type with a charset", { headers: { "content-type": "application/json; charset=utf-8" } }],
      ["content type that only begins like JSON", { headers: { "content-type": "application/json-patch+json" } }],
      ["a poll with text as content type", { ...poll, headers: { ...pollHeaders, "content-type": "text/plain" } }],
    ],
  },
  {
    name: "body",
    exchanges: [
      ["empty", { body: "" }],
      ["no JSON", { body: "{" }],
      ["a poll that is no JSON", { body: "{", headers: pollHeaders }],
      ["a text", { body: '"ping"' }],
      ["a number", { body: "7" }],
      ["null", { body: "null" }],
      ["an empty object", { body: "{}" }],
      ["a batch", { body: [discover, discover] }],
      ["an empty batch", { body: [] }],
      ["a batch of numbers", { body: [1, 2] }],
      ["no jsonrpc", { body: { ...discover, jsonrpc: undefined } }],
      ["jsonrpc 1.0", { body: { ...discover, jsonrpc: "1.0" } }],
      ["a method that is a number", { body: { ...discover, method: 7 } }],
      ["params that are a list", { body: { ...discover, params: [] } }],
      ["an ID that is null", { body: { ...discover, id: null } }],
      ["an ID that is a fraction", { body: { ...discover, id: 1.5 } }],
      ["an ID that is an object", { body: { ...discover, id: {} } }],
      ["more bytes than allowed", { body: "x".repeat(100_001) }],
      ["more bytes than allowed, without a length", { body: "x".repeat(100_001), chunked: true }],
    ],
  },
  {
    name: "messages",
    exchanges: [
      ["an unknown method", { body: say("tasks/unknown"), headers: { "mcp-method": "tasks/unknown" } }],
      ["ping, which the revision lacks", { body: say("ping"), headers: { "mcp-method": "ping" } }],
      ["initialize", { body: say("initialize"), headers: { "mcp-method": "initialize" } }],
      [
        "a notification of no meaning",
        { body: rpc({ method: "notifications/unknown" }), headers: { "mcp-method": "notifications/unknown" } },
      ],
      [
        "a notification without the method header",
        { body: rpc({ method: "notifications/unknown" }), headers: { "mcp-method": null } },
      ],
      [
        "a cancellation",
        {
          body: rpc({ method: "notifications/cancelled", params: { requestId: 9 } }),
          headers: { "mcp-method": "notifications/cancelled" },
        },
      ],
      ["a result that nobody has asked for", { body: rpc({ id: 9, result: {} }), headers: { "mcp-method": null } }],
      [
        "an error that nobody has asked for",
        { body: rpc({ id: 9, error: { code: 1, message: "no" } }), headers: { "mcp-method": null } },
      ],
      [
        "a poll without the extension declared",
        { body: say("tasks/get", { taskId: "0123456789abcdef" }, false), headers: pollHeaders },
      ],
      ["a poll of an unknown task", { ...poll, headers: pollHeaders }],
      ["a poll without a task", { body: say("tasks/get"), headers: { "mcp-method": "tasks/get" } }],
      ["a call of an unknown tool", { ...call, headers: callHeaders }],
      [
        "a subscription without the extension declared",
        {
          body: say("subscriptions/listen", { notifications: { taskIds: ["0123456789abcdef"] } }, false),
          headers: listen.headers,
        },
      ],
      ["a subscription to nothing", { body: say("subscriptions/listen", {}), headers: listen.headers }],
    ],
  },
  {
    name: "headers",
    exchanges: [
      ["no version header", { headers: { "mcp-protocol-version": null } }],
      ["an empty version header", { headers: { "mcp-protocol-version": "" } }],
      ["an unknown version header", { headers: { "mcp-protocol-version": "2099-01-01" } }],
      ["an old version header", { headers: { "mcp-protocol-version": "2025-11-25" } }],
      [
        "an unknown version in header and body",
        {
          headers: { "mcp-protocol-version": "2099-01-01" },
          body: withMeta({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }),
        },
      ],
      [
        "an unknown version in the body",
        { body: withMeta({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }) },
      ],
      ["no version in the body", { body: withMeta({ "io.modelcontextprotocol/protocolVersion": undefined }) }],
      ["no capabilities in the body", { body: withMeta({ "io.modelcontextprotocol/clientCapabilities": undefined }) }],
      ["no client in the body", { body: withMeta({ "io.modelcontextprotocol/clientInfo": undefined }) }],
      ["no _meta in the body", { body: rpc({ id: 1, method: "server/discover" }) }],
      ["no method header", { headers: { "mcp-method": null } }],
      ["another method header", { headers: { "mcp-method": "tools/list" } }],
      ["a method header in another case", { headers: { "mcp-method": "Server/Discover" } }],
      ["a name header that is not asked for", { headers: { "mcp-name": "nope" } }],
      ["no name header", { ...call, headers: { "mcp-method": "tools/call" } }],
      ["another name header", { ...call, headers: { ...callHeaders, "mcp-name": "job" } }],
      ["an encoded name header", { ...call, headers: { ...callHeaders, "mcp-name": "=?base64?bm9wZQ==?=" } }],
      ["a name header that cannot be decoded", { ...call, headers: { ...callHeaders, "mcp-name": "=?base64?%?=" } }],
      ["a poll with another method header", { ...poll, headers: { ...pollHeaders, "mcp-method": "tasks/cancel" } }],
      ["a poll with another name header", { ...poll, headers: { ...pollHeaders, "mcp-name": "job" } }],
    ],
  },
  {
    name: "callers",
    exchanges: [
      ["no token", { headers: { authorization: null } }],
      ["a wrong token", { headers: { authorization: "Bearer mallory" } }],
      ["no token and no JSON", { headers: { authorization: null }, body: "{" }],
      ["a foreign Host", { headers: { host: "evil.example" } }],
      ["a foreign Origin", { headers: { origin: "https://evil.example" } }],
      ["an Origin of null", { headers: { origin: "null" } }],
      ["an Origin of this machine", { headers: { origin: "http://localhost:5173" } }],
      ["a preflight of a foreign page", { method: "OPTIONS", headers: { origin: "https://evil.example" } }],
    ],
  },
];
