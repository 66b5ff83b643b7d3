import { extension, toRequest } from "../rpc-client.ts";
import type { HttpExchange } from "./http-exchange.ts";

export const headers20260728: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  authorization: "Bearer alice",
};

/** What a client of 2026-07-28 may do over HTTP. `taskId` is a task of it. */
export const exchanges20260728 = (taskId: string): readonly HttpExchange[] => {
  const poll = toRequest("tasks/get", { taskId }, { id: "poll" });
  const asPoll = { "mcp-method": "tasks/get", "mcp-name": taskId };
  const list = toRequest("tools/list", {}, { id: "list" });
  const asList = { "mcp-method": "tools/list" };
  const call = toRequest("tools/call", { name: "nope", arguments: {} }, { id: "call" });
  const asCall = { "mcp-method": "tools/call", "mcp-name": "nope" };
  const listen = toRequest("subscriptions/listen", { notifications: { taskIds: [] } }, { id: "listen" });
  const withMeta = (meta: Readonly<Record<string, unknown>>): object => ({
    ...poll,
    params: { ...poll.params, _meta: { ...(poll.params?._meta as object), ...meta } },
  });
  return [
    { name: "a poll", headers: asPoll, body: poll },
    { name: "a poll of another owner", headers: { ...asPoll, authorization: "Bearer bob" }, body: poll },
    { name: "a request without a token", headers: { ...asPoll, authorization: null }, body: poll },
    { name: "a request with a wrong token", headers: { ...asPoll, authorization: "Bearer eve" }, body: poll },
    { name: "Accept only JSON", headers: { ...asPoll, accept: "application/json" }, body: poll },
    { name: "Accept only a stream", headers: { ...asPoll, accept: "text/event-stream" }, body: poll },
    { name: "Accept anything", headers: { ...asPoll, accept: "*/*" }, body: poll },
    { name: "Accept text", headers: { ...asPoll, accept: "text/html" }, body: poll },
    { name: "no Accept", headers: { ...asPoll, accept: null }, body: poll },
    { name: "a body of text", headers: { ...asPoll, "content-type": "text/plain" }, body: poll },
    { name: "a body without a type", headers: { ...asPoll, "content-type": null }, body: poll },
    { name: "no protocol version", headers: { ...asPoll, "mcp-protocol-version": null }, body: poll },
    { name: "an unknown protocol version", headers: { ...asPoll, "mcp-protocol-version": "2099-01-01" }, body: poll },
    { name: "an earlier protocol version", headers: { ...asPoll, "mcp-protocol-version": "2025-11-25" }, body: poll },
    {
      name: "an unknown protocol version in header and message",
      headers: { ...asPoll, "mcp-protocol-version": "2099-01-01" },
      body: withMeta({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }),
    },
    {
      name: "a message without a version",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/protocolVersion": undefined }),
    },
    {
      name: "a message without capabilities",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/clientCapabilities": undefined }),
    },
    {
      name: "capabilities that are a text",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/clientCapabilities": "all" }),
    },
    {
      name: "a message without client info",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/clientInfo": undefined }),
    },
    {
      name: "the extension not declared",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/clientCapabilities": {} }),
    },
    {
      name: "the extension declared as a text",
      headers: asPoll,
      body: withMeta({ "io.modelcontextprotocol/clientCapabilities": { extensions: { [extension]: "yes" } } }),
    },
    { name: "a poll without Mcp-Method", headers: { "mcp-name": taskId }, body: poll },
    { name: "a poll without Mcp-Name", headers: { "mcp-method": "tasks/get" }, body: poll },
    { name: "a poll with another Mcp-Method", headers: { ...asPoll, "mcp-method": "tasks/cancel" }, body: poll },
    { name: "a poll with another Mcp-Name", headers: { ...asPoll, "mcp-name": "another" }, body: poll },
    { name: "a call without Mcp-Name", headers: { "mcp-method": "tools/call" }, body: call },
    { name: "a call with another Mcp-Name", headers: { ...asCall, "mcp-name": "another" }, body: call },
    { name: "a call of an unknown tool", headers: asCall, body: call },
    { name: "a list", headers: asList, body: list },
    { name: "a list with a name", headers: { ...asList, "mcp-name": "tools" }, body: list },
    { name: "an empty body", headers: asPoll, body: "" },
    { name: "a body that is no JSON", headers: asPoll, body: "{" },
    { name: "a body that is a text", headers: asPoll, body: '"ping"' },
    { name: "a body that is null", headers: asPoll, body: "null" },
    { name: "a message without jsonrpc", headers: asPoll, body: { ...poll, jsonrpc: undefined } },
    { name: "an ID that is null", headers: asPoll, body: { ...poll, id: null } },
    { name: "params that are a list", headers: asPoll, body: { ...poll, params: [] } },
    { name: "no params", headers: asPoll, body: { ...poll, params: undefined } },
    { name: "an empty batch", headers: asPoll, body: [] },
    { name: "a batch", headers: asPoll, body: [poll, { ...poll, id: "again" }] },
    {
      name: "an unknown method",
      headers: { "mcp-method": "nothing/at-all" },
      body: { ...list, method: "nothing/at-all" },
    },
    { name: "ping", headers: { "mcp-method": "ping" }, body: { ...list, method: "ping" } },
    {
      name: "a notification",
      headers: { "mcp-method": "notifications/cancelled" },
      body: { ...list, id: undefined, method: "notifications/cancelled" },
    },
    { name: "an answer to no request", body: { jsonrpc: "2.0", id: 77, result: {} } },
    { name: "a subscription to nothing", headers: { "mcp-method": "subscriptions/listen" }, body: listen },
    {
      name: "a subscription that accepts JSON only",
      headers: { "mcp-method": "subscriptions/listen", accept: "application/json" },
      body: listen,
    },
    { name: "a session", headers: { ...asPoll, "mcp-session-id": "0123" }, body: poll },
    { name: "a body that is too large", headers: asPoll, body: withMeta({ text: "x".repeat(5_000) }) },
    { name: "GET", method: "GET", headers: { "content-type": null, accept: "text/event-stream" } },
    {
      name: "GET from an event",
      method: "GET",
      headers: { "content-type": null, accept: "text/event-stream", "last-event-id": "1" },
    },
    { name: "DELETE", method: "DELETE" },
    { name: "HEAD", method: "HEAD" },
    { name: "PUT", method: "PUT", headers: asPoll, body: poll },
    { name: "PATCH", method: "PATCH", headers: asPoll, body: poll },
    { name: "OPTIONS", method: "OPTIONS" },
    { name: "an Origin elsewhere", headers: { ...asPoll, origin: "https://evil.example" }, body: poll },
    { name: "a Host elsewhere", headers: { ...asPoll, host: "evil.example" }, body: poll },
    { name: "another path", path: "/nothing", headers: asPoll, body: poll },
    { name: "a path with a slash at its end", path: "/mcp/", headers: asPoll, body: poll },
  ];
};
