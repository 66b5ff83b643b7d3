import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { freePort } from "../../src/free-port.ts";
import { compile } from "../../src/gcw/compile.ts";
import { newThread, recordKeysOf, runProgram } from "../../src/gcw/run.ts";
import { host, runSource } from "./interpreter.ts";

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

const served = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  closes.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

describe("an interpreted workflow", () => {
  it.each([
    ["returns null without a return", "    - a: { assign: [{ x: 1 }] }", null],
    ["takes a list of steps for main", "main: { steps: [{ a: { return: 1 } }] }", 1],
    ["evaluates keys of maps", '    - a: { return: { "${\\"k\\" + 1}": 2 } }', { k1: 2 }],
    ["runs nested steps", "    - a: { steps: [{ b: { assign: [{ x: 1 }] } }] }\n    - c: { return: '${x}' }", 1],
    [
      "jumps out of nested steps",
      "    - a: { steps: [{ b: { next: d } }] }\n    - c: { return: 1 }\n    - d: { return: 2 }",
      2,
    ],
    [
      "calls a function of the library by name",
      "    - a: { call: text.to_upper, args: { input: x }, result: y }\n    - b: { return: '${y}' }",
      "X",
    ],
    ["logs", "    - a: { call: sys.log, args: { text: x, severity: INFO } }", null],
    ["sleeps", "    - a: { call: sys.sleep, args: { seconds: 0.01 } }", null],
    [
      "opens an endpoint",
      "    - a: { call: events.create_callback_endpoint, args: { http_callback_method: PUT }, result: c }\n    - b: { return: '${c.url}' }",
      "callback:PUT",
    ],
    ["reads its environment", `    - a: { return: '\${sys.get_env("GOOGLE_CLOUD_LOCATION")}' }`, "here"],
    [
      "keeps a variable of a loop inside",
      "    - a: { for: { value: v, in: [1], steps: [{ b: { assign: [{ x: 1 }] } }] } }\n    - c: { return: '${x}' }",
      { raised: expect.objectContaining({ tags: ["KeyError"] }) },
    ],
    [
      "catches an error of the engine",
      "    - a: { try: { assign: [{ x: '${1 / 0}' }] }, except: { as: e } }\n    - b: { return: done }",
      "done",
    ],
    [
      "raises again",
      "    - a: { try: { raise: none }, except: { as: e, steps: [{ b: { raise: '${e + 1}' } }] } }",
      { raised: "none1" },
    ],
    [
      "recurses twenty deep at most",
      "main: { steps: [{ a: { call: main } }] }",
      { raised: expect.objectContaining({ tags: ["RecursionError"] }) },
    ],
    [
      "ends after 100,000 steps",
      "    - a: { next: a }",
      { raised: expect.objectContaining({ tags: ["ResourceLimitError"] }) },
    ],
    [
      "does not assign what is not shared",
      "    - i: { assign: [{ x: 1 }] }\n    - a: { parallel: { branches: [{ b: { steps: [{ c: { assign: [{ x: 2 }] } }] } }] } }",
      { raised: expect.objectContaining({ tags: ["UnhandledBranchError"] }) },
    ],
    [
      "shares a variable with the iterations of a parallel loop",
      "    - i: { assign: [{ x: 0 }] }\n    - a: { parallel: { shared: [x], concurrency_limit: 2, for: { value: v, range: [1, 5], steps: [{ c: { switch: [{ condition: '${v == 3}', next: continue }] } }, { b: { assign: [{ x: '${x + v}' }] } }] } } }\n    - d: { return: '${x}' }",
      12,
    ],
    [
      "tells the errors of branches",
      "    - a: { parallel: { branches: [{ b: { steps: [{ c: { raise: no } }] } }] } }",
      {
        raised: {
          message: "branch b has failed: no",
          tags: ["UnhandledBranchError"],
          branches: [{ id: "b", error: "no" }],
          truncated: false,
        },
      },
    ],
  ])("%s", async (_, source, result) => {
    expect(await runSource(source)).toEqual(result);
  });

  it("makes requests and takes the answers", async () => {
    const url = await served(async (request, response) => {
      const sent = await request.toArray();
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ method: request.method, url: request.url, body: Buffer.concat(sent).toString() }));
    });
    const args = `args: { url: "${url}", query: { q: 1 }, body: { a: [1] } }`;
    expect(
      await runSource(
        `    - a: { call: http.put, ${args}, result: r }\n    - b: { return: ["\${r.code}", "\${r.body}"] }`,
      ),
    ).toEqual([200, { method: "PUT", url: "/?q=1", body: '{"a":[1]}' }]);
  });

  it("fails where nobody listens, and where the answer does not come in time", async () => {
    const url = await served(() => {});
    const call = (address: string) =>
      runSource(`    - a: { call: http.get, args: { url: "${address}", timeout: 0.05 } }`);
    expect(await call(`http://127.0.0.1:${await freePort("127.0.0.1")}/`)).toMatchObject({
      raised: { tags: ["ConnectionFailedError"] },
    });
    expect(await call(url)).toMatchObject({ raised: { tags: ["TimeoutError"] } });
  });

  it.each([
    ["503 by the default policy", 503, "${http.default_retry}", 2],
    ["404 never", 404, "${http.default_retry}", 1],
    ["502 not where a repetition would harm", 502, "${http.default_retry_non_idempotent}", 1],
    ["every error without a predicate", 404, "{ max_retries: 2, backoff: { initial_delay: 0 } }", 3],
  ])("retries %s", async (_, status, policy, requests) => {
    let seen = 0;
    const url = await served((_request, response) => {
      seen++;
      response.statusCode = policy.includes("http.") && seen > 1 ? 200 : status;
      response.end();
    });
    const retry = policy.startsWith("$") ? `"${policy}"` : policy;
    await runSource(
      `    - a: { try: { call: http.get, args: { url: "${url}" } }, retry: ${retry}, except: { as: e } }`,
    );
    expect(seen).toBe(requests);
  });
});

describe("a workflow is refused for", () => {
  it.each([
    [
      "a connector",
      "    - a: { call: googleapis.run.v1.x }",
      "step a, routine main: `googleapis.run.v1.x` is not supported by this engine",
    ],
    [
      "an unknown function",
      "    - a: { call: events.await_callback_event }",
      "`events.await_callback_event` is not supported",
    ],
    [
      "an unknown function in an expression",
      "    - a: { return: '${retry.always(1)}' }",
      "`retry.always` is not supported",
    ],
    ["a blocking call in an expression", `    - a: { return: '\${http.get("x")}' }`, "`http.get` in an expression"],
    ["an unknown field", "    - a: { assign: [{ x: 1 }], when: 1 }", "`when` is not supported"],
    [
      "an unknown argument",
      "    - a: { call: sys.sleep, args: { seconds: 1, days: 2 } }",
      "`sys.sleep: args.days` is not supported",
    ],
    ["an argument that is missing", "    - a: { call: sys.sleep }", "sys.sleep needs the argument seconds"],
    ["two actions in a step", "    - a: { return: 1, raise: 2 }", "are in one step"],
    ["a step without an action", "    - a: {}", "the step does nothing"],
    [
      "a name given twice",
      "    - a: { return: 1 }\n    - a2: { steps: [{ a: { return: 2 } }] }",
      "another step has this name",
    ],
    ["a jump to nowhere", "    - a: { next: z }", 'leads to "z"'],
    [
      "a jump out of a loop",
      "    - a: { for: { value: v, in: [1], steps: [{ b: { next: c } }] } }\n    - c: { return: 1 }",
      'leads to "c"',
    ],
    [
      "a return inside parallel",
      "    - a: { parallel: { branches: [{ b: { steps: [{ c: { return: 1 } }] } }] } }",
      "`return` inside `parallel` is not supported",
    ],
    [
      "an end inside parallel",
      "    - a: { parallel: { branches: [{ b: { steps: [{ c: { next: end } }] } }] } }",
      "`next: end` inside `parallel`",
    ],
    [
      "another policy",
      "    - a: { parallel: { exception_policy: unhandled, branches: [{ b: { steps: [{ c: { assign: [{ x: 1 }] } }] } }] } }",
      "`exception_policy",
    ],
    [
      "an unknown retry policy",
      "    - a: { try: { raise: 1 }, retry: '${retry.never}' }",
      "`retry: ${retry.never}` is not supported",
    ],
    [
      "an unknown predicate",
      "    - a: { try: { raise: 1 }, retry: { predicate: '${retry.always}' } }",
      "`predicate: ${retry.always}` is not supported",
    ],
    ["an expression that is broken", "    - a: { return: '${1 +}' }", "ends too soon"],
    ["YAML that is broken", "main: [", "Flow sequence"],
    ["no main", "other: { steps: [{ a: { return: 1 } }] }\n#main:", "no routine `main`"],
  ])("%s", (_, text, message) => {
    const source = /main:/.test(text) ? text : `main:\n  steps:\n${text}`;
    expect(() => compile(source)).toThrow(message);
  });
});

describe("a cancellation ends", () => {
  const inParallel = "parallel: { branches: [{ b: { steps: [{ c: { call: sys.sleep, args: { seconds: 600 } } }] } }] }";
  it.each([
    ["a sleep", "call: sys.sleep, args: { seconds: 6000000 }", "a"],
    ["a wait for a callback", "call: events.await_callback, args: { callback: { url: x } }", "a"],
    [
      "a wait between attempts",
      "try: { raise: 1 }, retry: { max_retries: 1, backoff: { initial_delay: 600, max_delay: 600 } }",
      "a",
    ],
    ["branches", inParallel, "c"],
    ["steps that never wait", "steps: [{ s: { assign: [{ x: 1 }], next: s } }]", "s"],
    ["a request", "call: http.get, args: { url: URL }", "a"],
  ])("%s", async (_, step, at) => {
    const url = await served(() => {});
    const stopping = new AbortController();
    const thread = newThread({ host, signal: stopping.signal, steps: 0 });
    const source = `main: { steps: [{ a: { ${step.replace("URL", `"${url}"`)} } }] }`;
    const running = runProgram(compile(source), undefined, thread);
    // The run reaches its first step in the turn it is started in, but for a loop that never waits.
    await new Promise((resolve) => setImmediate(resolve));
    expect(recordKeysOf(thread)).toEqual([{ routine: "main", step: at }]);
    stopping.abort(new Error("stopped"));
    await expect(running).rejects.toThrow();
    await expect(running).rejects.not.toHaveProperty("value");
  });
});
