import type { HttpExchange } from "./http-exchange.ts";

export const headers20251125: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
  authorization: "Bearer alice",
};

const clientInfo = { name: "test", version: "1" };
export const initialize20251125: object = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};
const initialize = (params: object): object => ({ jsonrpc: "2.0", id: "init", method: "initialize", params });
const ping = { jsonrpc: "2.0", id: "ping", method: "ping" };

/** What a client of the 2025 revisions may do over HTTP, in a session that is open. `session` is its ID, `taskId` a task of it. */
export const exchanges20251125 = (session: string, taskId: string): readonly HttpExchange[] => {
  const inSession = { "mcp-session-id": session };
  const get = { "content-type": null, accept: "text/event-stream", ...inSession };
  const poll = { jsonrpc: "2.0", id: "poll", method: "tasks/get", params: { taskId } };
  return [
    { name: "a ping in the session", headers: inSession, body: ping },
    { name: "a ping without a session", body: ping },
    { name: "a ping in a session that does not exist", headers: { "mcp-session-id": "0123" }, body: ping },
    { name: "a ping in two sessions", headers: { "mcp-session-id": `${session}, ${session}` }, body: ping },
    { name: "a poll in the session", headers: inSession, body: poll },
    {
      name: "a poll in the session of another owner",
      headers: { ...inSession, authorization: "Bearer bob" },
      body: poll,
    },
    { name: "a request without a token", headers: { ...inSession, authorization: null }, body: ping },
    { name: "a request with a wrong token", headers: { ...inSession, authorization: "Bearer eve" }, body: ping },
    { name: "Accept only JSON", headers: { ...inSession, accept: "application/json" }, body: ping },
    { name: "Accept only a stream", headers: { ...inSession, accept: "text/event-stream" }, body: ping },
    { name: "Accept anything", headers: { ...inSession, accept: "*/*" }, body: ping },
    { name: "Accept text", headers: { ...inSession, accept: "text/html" }, body: ping },
    { name: "no Accept", headers: { ...inSession, accept: null }, body: ping },
    { name: "a body of text", headers: { ...inSession, "content-type": "text/plain" }, body: ping },
    { name: "a body without a type", headers: { ...inSession, "content-type": null }, body: ping },
    {
      name: "a body with a charset",
      headers: { ...inSession, "content-type": "application/json; charset=utf-8" },
      body: ping,
    },
    { name: "no protocol version", headers: { ...inSession, "mcp-protocol-version": null }, body: ping },
    {
      name: "an unknown protocol version",
      headers: { ...inSession, "mcp-protocol-version": "1900-01-01" },
      body: ping,
    },
    {
      name: "an earlier protocol version",
      headers: { ...inSession, "mcp-protocol-version": "2025-06-18" },
      body: ping,
    },
    { name: "the next protocol version", headers: { ...inSession, "mcp-protocol-version": "2026-07-28" }, body: ping },
    { name: "an empty body", headers: inSession, body: "" },
    { name: "a body that is no JSON", headers: inSession, body: "{" },
    { name: "a body that is a text", headers: inSession, body: '"ping"' },
    { name: "a body that is null", headers: inSession, body: "null" },
    { name: "a message without a version", headers: inSession, body: { id: "ping", method: "ping" } },
    { name: "a message that says nothing", headers: inSession, body: { jsonrpc: "2.0" } },
    { name: "an ID that is null", headers: inSession, body: { ...ping, id: null } },
    { name: "params that are a list", headers: inSession, body: { ...ping, params: [] } },
    { name: "an empty batch", headers: inSession, body: [] },
    { name: "a batch", headers: inSession, body: [ping, { ...ping, id: "pong" }] },
    { name: "an unknown method", headers: inSession, body: { ...ping, method: "nothing/at-all" } },
    {
      name: "a notification",
      headers: inSession,
      body: { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
    },
    { name: "an unknown notification", headers: inSession, body: { jsonrpc: "2.0", method: "notifications/nothing" } },
    { name: "an answer to no request", headers: inSession, body: { jsonrpc: "2.0", id: 77, result: {} } },
    { name: "an initialize in a session", headers: inSession, body: initialize20251125 },
    {
      name: "an initialize without client info",
      body: initialize({ protocolVersion: "2025-11-25", capabilities: {} }),
    },
    {
      name: "an initialize of an unknown revision",
      headers: { authorization: "Bearer bob" },
      body: initialize({ protocolVersion: "1900-01-01", capabilities: {}, clientInfo }),
    },
    { name: "a body that is too large", headers: inSession, body: { ...ping, params: { text: "x".repeat(5_000) } } },
    { name: "a stream", method: "GET", headers: get, staysOpen: true },
    { name: "a second stream", method: "GET", headers: get },
    { name: "a stream from an unknown event", method: "GET", headers: { ...get, "last-event-id": "unknown" } },
    { name: "a stream that accepts JSON only", method: "GET", headers: { ...get, accept: "application/json" } },
    { name: "a stream without a session", method: "GET", headers: { ...get, "mcp-session-id": null } },
    { name: "a stream of another owner", method: "GET", headers: { ...get, authorization: "Bearer bob" } },
    { name: "HEAD", method: "HEAD", headers: inSession },
    { name: "PUT", method: "PUT", headers: inSession, body: ping },
    { name: "PATCH", method: "PATCH", headers: inSession, body: ping },
    { name: "OPTIONS", method: "OPTIONS", headers: inSession },
    { name: "an Origin elsewhere", headers: { ...inSession, origin: "https://evil.example" }, body: ping },
    { name: "a Host elsewhere", headers: { ...inSession, host: "evil.example" }, body: ping },
    { name: "another path", path: "/nothing", headers: inSession, body: ping },
    { name: "a path with a slash at its end", path: "/mcp/", headers: inSession, body: ping },
    {
      name: "an end of the session by another owner",
      method: "DELETE",
      headers: { ...inSession, authorization: "Bearer bob" },
    },
    { name: "an end without a session", method: "DELETE" },
    { name: "an end of the session", method: "DELETE", headers: inSession },
    { name: "a second end of the session", method: "DELETE", headers: inSession },
    { name: "a ping after the end", headers: inSession, body: ping },
  ];
};
