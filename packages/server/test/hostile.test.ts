import { createConnection } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createRequestGuard } from "../src/http/request-guard.ts";
import { callForTask, type RequestOptions, toRequest } from "./rpc-client.ts";
import { serve, stopAll } from "./serve.ts";

afterEach(stopAll);

/** Headers that `fetch` would not send as given. */
const raw = (url: string, head: readonly string[], body = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = createConnection({ host: hostname, port: Number(port) });
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(5_000, () => socket.destroy(new Error("nothing came within 5 s")));
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(`${[...head, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  });

describe("[H-3] requests that are none", () => {
  const text = JSON.stringify;
  test.each<[string, RequestOptions, number, number]>([
    ["no JSON", { body: "{" }, 400, -32_700],
    ["nothing", { body: "" }, 400, -32_700],
    ["no JSON-RPC", { body: text({ hello: 1 }) }, 400, -32_600],
    ["a batch", { body: text([toRequest("tools/list")]) }, 400, -32_600],
    ["ID null", { body: text({ ...toRequest("tools/list"), id: null }) }, 400, -32_600],
    ["another content type", { headers: { "content-type": "text/plain" } }, 415, -32_000],
    [
      "an unknown version",
      {
        meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
        headers: { "mcp-protocol-version": "2099-01-01" },
      },
      400,
      -32_022,
    ],
    ["a version that differs from its header", { headers: { "mcp-protocol-version": "2025-06-18" } }, 400, -32_020],
    ["no envelope", { body: text({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }) }, 400, -32_602],
    ["a method that differs from its header", { headers: { "mcp-method": "tasks/get" } }, 400, -32_020],
  ])("%s", async (_name, options, status, code) => {
    const { rpc } = await serve();
    const answer = await rpc("tools/list", {}, options);
    expect([answer.status, answer.error.code]).toEqual([status, code]);
  });

  test("a method that does not exist: 404 and -32601", async () => {
    const { rpc } = await serve();
    for (const method of ["initialize", "ping", "resources/subscribe", "foo/bar", "constructor"]) {
      const { status, error } = await rpc(method);
      expect([status, error.code]).toEqual([404, -32_601]);
    }
  });

  test("arguments of the wrong kind", async () => {
    const { rpc, backend } = await serve();
    for (const args of ["text", 1, ["a"], null]) {
      const { error, result } = await rpc("tools/call", { name: "job", arguments: args });
      expect(error.code === -32_602 || result.isError === true).toBe(true);
    }
    expect((await rpc("tools/call", { name: 1 }, { headers: { "mcp-name": "1" } })).error.code).toBeLessThan(0);
    expect(backend.starts()).toBe(0);
  });

  test("other HTTP methods and paths", async () => {
    const { url } = await serve();
    for (const method of ["GET", "DELETE", "PUT"])
      expect((await fetch(url, { method })).status).toBeGreaterThanOrEqual(400);
    for (const path of ["/", "/mcp/", "/mcp/x", "/MCP"]) expect((await fetch(new URL(path, url))).status).toBe(404);
  });
});

describe("[H-2] a body that is too large", () => {
  test("is refused, whether or not it says its length", async () => {
    const { rpc, url } = await serve({ limits: { maxBodyBytes: 1_000 } });
    const { status } = await rpc("tools/call", { name: "job", arguments: { pad: "x".repeat(2_000) } });
    expect(status).toBe(413);
    const chunk = `{"pad":"${"x".repeat(2_000)}`;
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: ${new URL(url).host}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ];
    expect(await raw(url, head, `${chunk.length.toString(16)}\r\n${chunk}\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
    expect((await rpc("tools/list")).status).toBe(200);
  });
});

describe("[H-2] a client that is still sending a body that is too large", () => {
  const size = 6 * 1_048_576;

  test.each([
    ["that says its length", (): string | ReadableStream => "x".repeat(size)],
    ["in chunks", (): string | ReadableStream => new Blob(["x".repeat(size)]).stream()],
  ])("always gets the refusal: one %s", async (_name, body) => {
    const { url } = await serve();
    const post = async (): Promise<unknown> => {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const response = await fetch(url, { method: "POST", headers, body: body(), duplex: "half" } as RequestInit);
      return [response.status, await response.json()];
    };
    const refused = { error: { code: -32_000, message: "Payload Too Large: more than 4194304 bytes" } };
    for (let time = 0; time < 5; time += 1) expect(await post()).toMatchObject([413, refused]);
  });

  test("and one that never ends is cut off", async () => {
    const { url, rpc } = await serve({ limits: { maxBodyBytes: 1_000 } });
    const head = ["POST /mcp HTTP/1.1", `Host: ${new URL(url).host}`, "Content-Type: application/json"];
    expect(await raw(url, [...head, "Content-Length: 2000"], "x")).toMatch(/^HTTP\/1\.1 413 /);
    expect((await rpc("tools/list")).status).toBe(200);
  });
});

describe("[H-1] Host and Origin", () => {
  test("names and pages from elsewhere are refused before anything else is looked at", async () => {
    const { url } = await serve();
    const { host, port } = new URL(url);
    const first = async (...head: string[]): Promise<string | undefined> =>
      (
        await raw(url, ["POST /mcp HTTP/1.1", ...head, "Content-Type: application/json", "Content-Length: 2"], "{}")
      ).split("\r\n")[0];
    for (const head of [
      ["Host: evil.example.com"],
      ["Host: 127.0.0.1.evil.example.com"],
      ["Host: evil.example.com:80@127.0.0.1"],
      ["Host:"],
      ["Host: localhost:99999"],
      [`Host: ${host}`, "Origin: https://evil.example.com"],
      [`Host: ${host}`, "Origin: null"],
      [`Host: ${host}`, "Origin: http://localhost.evil.example.com"],
    ]) {
      expect([head, await first(...head)]).toEqual([head, expect.stringMatching(/ (400|403) /)]);
    }
    for (const head of [
      [`Host: ${host}`],
      [`Host: localhost:${port}`],
      [`Host: ${host}`, `Origin: http://localhost:${port}`],
    ]) {
      expect(await first(...head)).toMatch(/ 400 /);
    }
  });

  test.each([
    [{ host: "127.0.0.1" }, { host: "[::1]:3000" }, true],
    [{ host: "127.0.0.1" }, { host: "mcp.example.com" }, false],
    [{ host: "127.0.0.1", allowedHosts: ["mcp.example.com:443"] }, { host: "MCP.example.com" }, true],
    [{ host: "192.0.2.1" }, { host: "192.0.2.1:3000" }, true],
    [{ host: "192.0.2.1" }, { host: "localhost:3000" }, false],
    [{ host: "0.0.0.0" }, { host: "anything" }, true],
    [{ host: "0.0.0.0", allowedHosts: ["mcp.example.com"] }, { host: "anything" }, false],
    [{ host: "0.0.0.0" }, { host: "x", origin: "https://x" }, false],
    [
      { host: "127.0.0.1", allowedOrigins: ["https://app.example.com"] },
      { host: "localhost", origin: "https://app.example.com" },
      true,
    ],
    [
      { host: "127.0.0.1", allowedOrigins: ["https://app.example.com"] },
      { host: "localhost", origin: "http://app.example.com" },
      false,
    ],
    [
      { host: "127.0.0.1", allowedOrigins: ["https://app.example.com"] },
      { host: "localhost", origin: "https://app.example.com:8443" },
      false,
    ],
    [
      { host: "127.0.0.1", allowedOrigins: ["app.example.com"] },
      { host: "localhost", origin: "http://app.example.com:8080" },
      true,
    ],
  ])("%j lets %j in: %j", (options, headers, isAllowed) => {
    const guard = createRequestGuard({ allowedHosts: [], allowedOrigins: [], ...options });
    expect(guard(headers) === undefined).toBe(isAllowed);
  });
});

describe("many at once", () => {
  test("polls of one task share one look at the backend", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 60_000 } }];
    const { rpc, backend } = await serve({ tools, fake: { without: ["watch"] } });
    const taskId = await callForTask(rpc);
    const inspections = backend.callsOf("inspect").length;
    const answers = await Promise.all(Array.from({ length: 100 }, () => rpc("tasks/get", { taskId })));
    expect(answers.every(({ result }) => result.status === "working")).toBe(true);
    expect(backend.callsOf("inspect").length - inspections).toBeLessThanOrEqual(2);
  });
});
