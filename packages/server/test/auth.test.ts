import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { fakeClock } from "@taskbridge/testkit";
import { readOwner, toOwner } from "../src/caller.ts";
import { tokenFile } from "../src/index.ts";
import { listen } from "./listen-client.ts";
import { callForTask } from "./rpc-client.ts";
import { eventually, serve, start, stopAll } from "./serve.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-auth-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(stopAll);

let files = 0;
const write = async (content: unknown): Promise<string> => {
  const path = join(folder, `tokens-${++files}.json`);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("[H-4] callers of a server with tokens", () => {
  const tokens = [
    { token: "alice-1", subject: "alice" },
    { token: "alice-2", subject: "alice", client: "phone", scopes: ["tasks"] },
    { token: "bob-1", subject: "bob" },
    { token: "old-1", subject: "alice", expiresAt: "2026-01-01T00:00:00Z" },
  ];
  const setUp = async () => serve({ auth: tokenFile(await write(tokens)) });

  test("without a good token are refused, and told how to come", async () => {
    const { rpc } = await setUp();
    for (const [headers, challenge] of [
      [{}, "Bearer"],
      [{ authorization: "Basic YTpi" }, 'Bearer error="invalid_request"'],
      [{ authorization: "Bearer " }, 'Bearer error="invalid_request"'],
      [{ authorization: "Bearer nope" }, 'Bearer error="invalid_token"'],
      [{ authorization: "Bearer alice-1 alice-2" }, 'Bearer error="invalid_request"'],
      [bearer("old-1").headers, 'Bearer error="invalid_token", error_description="The token has expired"'],
    ] as const) {
      const answer = await rpc("tools/list", {}, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain(challenge);
      expect(JSON.stringify(answer.messages)).not.toContain("alice");
    }
  });

  test("[A-20] see their own tasks, by whichever token, and others' exactly like unknown ones", async () => {
    const { rpc, url, backend } = await setUp();
    const taskId = await callForTask(rpc, "job", bearer("alice-1"));
    expect((await rpc("tasks/get", { taskId }, bearer("alice-2"))).result.status).toBe("working");
    backend.of().ask();
    await backend.events.settled();
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = { inputResponses: { q1: { action: "accept" } } };
      const foreign = await rpc(method, { ...params, taskId }, bearer("bob-1"));
      const unknown = await rpc(method, { ...params, taskId: "A".repeat(taskId.length) }, bearer("bob-1"));
      expect([foreign.status, foreign.error]).toEqual([unknown.status, unknown.error]);
    }
    const uri = `taskbridge://tasks/${taskId}/result`;
    expect((await rpc("resources/read", { uri }, bearer("bob-1"))).error).toMatchObject({
      message: "Resource not found",
    });
    const stream = await listen(url, { taskIds: [taskId] }, bearer("bob-1"));
    expect((await stream.next())?.params?.notifications).toEqual({ taskIds: [] });
    expect(backend.of().cancels).toEqual([]);
    expect(backend.of().answers).toEqual([]);
  });

  test("have limits of their own", async () => {
    const auth = tokenFile(await write(tokens));
    const { rpc } = await serve({ auth, limits: { maxConcurrentTasksPerOwner: 1 } });
    const taskId = await callForTask(rpc, "job", bearer("alice-1"));
    expect((await rpc("tools/call", { name: "job" }, bearer("alice-2"))).error.data).toMatchObject({
      openTaskIds: [taskId],
    });
    await callForTask(rpc, "job", bearer("bob-1"));
  });

  test("are verified when the server is mounted elsewhere, unless that was done before", async () => {
    const { server } = await start({ auth: tokenFile(await write(tokens)) });
    const request = (headers: Record<string, string> = {}) =>
      new Request("http://x/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/list",
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/list",
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        }),
      });
    expect((await server.fetch(request())).status).toBe(401);
    expect((await server.fetch(request({ authorization: "Bearer bob-1" }))).status).toBe(200);
    const authInfo = { token: "t", clientId: "c", scopes: [] };
    expect((await server.fetch(request(), { authInfo })).status).toBe(200);
  });

  test("case 19: nothing secret reaches tools or the log", async () => {
    const logged: unknown[] = [];
    const note = (fields: object, message: string): void => void logged.push(fields, message);
    let seen: unknown;
    const { rpc } = await serve({
      auth: tokenFile(await write(tokens)),
      log: { debug: note, info: note, warn: note, error: note },
      plainTools: [
        {
          name: "who",
          inputSchema: { type: "object" },
          call: (_args, { owner, mcp }) => {
            seen = mcp?.http?.authInfo;
            return { content: [{ type: "text", text: String(owner) }] };
          },
        },
      ],
    });
    const { result } = await rpc("tools/call", { name: "who" }, bearer("alice-2"));
    expect(result.content).toEqual([{ type: "text", text: "tokens|alice" }]);
    await rpc("tools/list", {}, bearer("wrong-token"));
    expect(JSON.stringify(seen)).not.toContain("alice-2");
    expect(JSON.stringify(logged)).not.toMatch(/alice-2|wrong-token/);
  });
});

describe("owners", () => {
  const identities = [
    { issuer: "https://a", subject: "x" },
    { issuer: "https://b", subject: "x" },
    { issuer: "https://a", clientId: "x" },
    { issuer: "https://a", subject: "client|x" },
    { issuer: "https://a|x", subject: "y" },
    { issuer: "https://a", subject: "x|y" },
  ];

  test("of different identities differ", () => {
    expect(new Set(identities.map(toOwner)).size).toBe(identities.length);
  });

  test("are none where nobody is named", async () => {
    expect(toOwner({ issuer: "https://a", subject: "", clientId: "" })).toBeUndefined();
    const { rpc } = await serve({ auth: { authenticate: async () => ({ identity: { issuer: "https://a" } }) } });
    expect((await rpc("tools/list")).status).toBe(401);
    expect(readOwner({ token: "t", clientId: "", scopes: [] }, "local")).toBeNull();
  });

  test("of callers verified elsewhere are read by the usual names", () => {
    const authInfo = { token: "t", clientId: "c", scopes: [] };
    expect(readOwner({ ...authInfo, extra: { iss: "i", sub: "s" } }, "none")).toBe("i|s");
    expect(readOwner({ ...authInfo, extra: { issuer: "i", subject: "s" } }, "none")).toBe("i|s");
    expect(readOwner(authInfo, "none")).toBe("auth client|c");
  });
});

test("a subscription ends when its caller must be verified anew", async () => {
  const expiresAt = Date.now() + 1_500;
  const { rpc, url } = await serve({
    auth: { authenticate: async () => ({ identity: { issuer: "i", subject: "s", expiresAt } }) },
  });
  const taskId = await callForTask(rpc);
  const messages = await (await listen(url, { taskIds: [taskId] })).rest();
  expect(messages.at(-1)).toMatchObject({ result: { resultType: "complete" } });
});

describe("a token file", () => {
  test.each<[unknown, string]>([
    ["{", "auth.tokens"],
    [{}, "auth.tokens"],
    [[{ token: "aaaa", subject: "a" }, { token: "bbbb" }], "auth.tokens[1].subject"],
    [[{ token: "aaaa", subject: "" }], "auth.tokens[0].subject"],
    [[{ subject: "a" }], "auth.tokens[0].token"],
    [[{ token: "with space", subject: "a" }], "auth.tokens[0].token"],
    [[{ token: "aaaa", subject: "a", scopes: "x" }], "auth.tokens[0].scopes"],
    [[{ token: "aaaa", subject: "a", expiresAt: "tomorrow" }], "auth.tokens[0].expiresAt"],
    [[{ token: "aaaa", subject: "a", extra: 1 }], "auth.tokens[0]"],
    [
      [
        { token: "aaaa", subject: "a" },
        { token: "aaaa", subject: "b" },
      ],
      "auth.tokens[1].token",
    ],
  ])("%j is refused at the start, naming %s and no token", async (content, path) => {
    const auth = tokenFile(await write(content));
    await expect(start({ auth })).rejects.toMatchObject({ code: "misconfigured", data: { path } });
    await expect(start({ auth })).rejects.not.toThrow(/aaaa|bbbb/);
  });

  test("that is not there is refused at the start", async () => {
    const auth = tokenFile(join(folder, "nope.json"));
    await expect(start({ auth })).rejects.toMatchObject({
      data: { path: "auth.tokens" },
      message: expect.stringContaining("ENOENT"),
    });
  });

  test("is read again when it changes, and serves nobody while it is broken", async () => {
    const clock = fakeClock();
    const path = await write([{ token: "first", subject: "a" }]);
    const replace = async (content: string): Promise<void> => {
      await writeFile(`${path}.new`, content);
      await rename(`${path}.new`, path);
      await clock.advance(1_001);
    };
    const auth = tokenFile(path, { clock });
    const ask = (token: string) => auth.authenticate({ authorization: `Bearer ${token}` });
    expect(await ask("first")).toEqual({ identity: { issuer: "tokens", subject: "a" } });
    await replace(JSON.stringify([{ token: "second", subject: "b" }]));
    expect(await ask("first")).toHaveProperty("refused");
    expect(await ask("second")).toEqual({ identity: { issuer: "tokens", subject: "b" } });
    await replace("[");
    await expect(ask("second")).rejects.toThrow("is not JSON");
    await replace("[]");
    expect(await ask("second")).toHaveProperty("refused");
  });

  test("lets a token expire while the server runs", async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1));
    const seconds = Date.UTC(2026, 0, 1, 0, 0, 10) / 1000;
    const auth = tokenFile(await write([{ token: "brief", subject: "a", expiresAt: seconds }]), { clock });
    const ask = () => auth.authenticate({ authorization: "bearer brief" });
    expect(await ask()).toHaveProperty("identity");
    await clock.advance(10_000);
    expect(await ask()).toMatchObject({ refused: { description: "The token has expired" } });
  });

  test("an authenticator that cannot tell is 503", async () => {
    const { rpc } = await serve({ auth: { authenticate: () => Promise.reject(new Error("down")) } });
    const answer = await rpc("tools/list");
    expect([answer.status, answer.error.message]).toEqual([503, "Callers cannot be verified at present"]);
  });
});

describe("case 18: [H-5] a server without tokens", () => {
  test("is one owner's on a loopback address", async () => {
    const { rpc, server } = await serve();
    const taskId = await callForTask(rpc);
    expect((await server.engine.readTask(taskId, { operator: true })).record.owner).toBe("local");
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", "example.com"])("does not start on %s", async (host) => {
    const { server } = await start();
    await expect(server.listen({ host, port: 0 })).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: "host" },
    });
  });

  test("told to, has no owners there: the ID alone grants access, and nothing is listed", async () => {
    const { rpc, server } = await serve({ listen: { host: "0.0.0.0", unsafePublic: true } });
    const taskId = await callForTask(rpc);
    expect((await server.engine.readTask(taskId, { operator: true })).record.owner).toBeNull();
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("working");
    await expect(server.engine.listTasks({ owner: null }, {}, undefined, 10)).rejects.toMatchObject({
      code: "unsupported",
    });
  });

  test("never makes strangers one owner", async () => {
    const { server } = await start({ owners: "local" });
    await expect(server.listen({ host: "0.0.0.0", port: 0, unsafePublic: true })).rejects.toMatchObject({
      data: { path: "owners" },
    });
  });

  test("case 1: finds a task again on a new connection and a new server", async () => {
    const store = (await import("@taskbridge/core/memory")).memoryStore();
    const kept = { ...store, close: async () => {} };
    const first = await serve({ store: kept });
    const taskId = await callForTask(first.rpc);
    await first.server.close();
    const second = await serve({ store: kept, adapters: { fake: first.backend.connect() } });
    first.backend.of().succeed("done");
    await eventually(async () => (await second.rpc("tasks/get", { taskId })).result.status === "completed");
  });
});
