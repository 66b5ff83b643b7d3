import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type Balancer, type BalancerOptions, type BalancerTarget, startRoundRobin } from "../src/balancer.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Started extends BalancerTarget {
  readonly name: string;
  stop(): Promise<void>;
}

const start = async (handler: Handler): Promise<Started> => {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  stops.push(stop);
  return { host: "127.0.0.1", port, name: `127.0.0.1:${port}`, stop };
};

const balance = async (
  targets: readonly BalancerTarget[],
  options: Partial<BalancerOptions> = {},
): Promise<Balancer> => {
  const balancer = await startRoundRobin({ targets, ...options });
  stops.push(balancer.close);
  return balancer;
};

/** Says its name, and what was sent to it. */
const named =
  (name: string): Handler =>
  async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    response.writeHead(200, { "x-name": name }).end(`${name} ${request.method} ${request.url} ${body}`);
  };

const until = async (isTrue: () => boolean): Promise<void> => {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`not within 10 s: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe("a round-robin balancer", () => {
  it("gives each request to the next server, with all that is in it", async () => {
    const [a, b] = [await start(named("a")), await start(named("b"))];
    const { url, tally } = await balance([a, b]);
    const seen: string[] = [];
    for (let round = 0; round < 4; round++) {
      const answer = await fetch(`${url}/mcp?x=${round}`, { method: "POST", body: "hello" });
      seen.push(await answer.text());
      expect(answer.headers.get("x-name")).toBe(seen.at(-1)?.[0]);
    }
    expect(seen.map((text) => text[0]).sort()).toEqual(["a", "a", "b", "b"]);
    expect(seen[0]).not.toBe(seen[1]);
    expect(seen[3]).toMatch(/^[ab] POST \/mcp\?x=3 hello$/);
    expect(tally()).toEqual({ [a.name]: { "200": 2 }, [b.name]: { "200": 2 } });
  });

  it("sends a request where it is told to", async () => {
    const [a, b] = [await start(named("a")), await start(named("b"))];
    const { url } = await balance([a, b], { choose: ({ method }) => (method === "GET" ? b : undefined) });
    for (let round = 0; round < 3; round++) expect((await (await fetch(url)).text())[0]).toBe("b");
  });

  it("tries the next server when one refuses the connection, and answers 503 when none is left", async () => {
    const [a, b] = [await start(named("a")), await start(named("b"))];
    const { url, tally } = await balance([a, b]);
    await a.stop();
    for (let round = 0; round < 4; round++) {
      expect((await (await fetch(url, { method: "POST", body: "x" })).text())[0]).toBe("b");
    }
    expect(tally()[a.name]?.refused).toBeGreaterThan(0);
    await b.stop();
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(tally().none).toEqual({ unserved: 1 });
  });

  it("leaves out a server that says it is not ready, until it is again", async () => {
    let isReady = false;
    const a = await start((request, response) =>
      request.url === "/readyz" ? response.writeHead(isReady ? 200 : 503).end() : named("a")(request, response),
    );
    const b = await start(named("b"));
    const balancer = await balance([a, b], { healthPath: "/readyz", healthEveryMs: 60_000 });
    await balancer.probe();
    const names = async (): Promise<readonly string[]> => {
      const answers = [await fetch(balancer.url), await fetch(balancer.url)];
      return (await Promise.all(answers.map((answer) => answer.text()))).map((text) => text[0] ?? "").sort();
    };
    expect(await names()).toEqual(["b", "b"]);
    isReady = true;
    await balancer.probe();
    expect(await names()).toEqual(["a", "b"]);
  });

  it("looks at the health by itself", async () => {
    let probes = 0;
    const a = await start((_request, response) => {
      probes += 1;
      response.end();
    });
    await balance([a], { healthPath: "/readyz", healthEveryMs: 10 });
    await until(() => probes >= 3);
  });

  it("passes an event stream on as it comes, and its client's leaving", async () => {
    let stream: ServerResponse | undefined;
    let hasLeft = false;
    const a = await start((_request, response) => {
      stream = response;
      response.on("close", () => {
        hasLeft = true;
      });
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    });
    const { url, tally } = await balance([a]);
    const leaving = new AbortController();
    const answer = await fetch(url, { signal: leaving.signal });
    const reader = answer.body?.getReader();
    for (const text of ["one", "two"]) {
      stream?.write(text);
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text);
    }
    leaving.abort();
    await until(() => hasLeft);
    await until(() => tally()[a.name]?.left === 1);
  });

  it("tells a client that its server is lost, before and within the answer", async () => {
    const a = await start((request, response) => {
      if (request.url === "/early") return response.destroy();
      response.writeHead(200).write("beginning");
      setImmediate(() => response.destroy());
      return response;
    });
    const outcomes: unknown[] = [];
    const { url, tally } = await balance([a], {
      onOutcome: ({ request, outcome }) => outcomes.push([request.url, outcome]),
    });
    await expect(fetch(`${url}/early`)).rejects.toThrow();
    await expect(fetch(`${url}/late`).then((answer) => answer.text())).rejects.toThrow();
    expect(tally()).toEqual({ [a.name]: { reset: 1, cut: 1 } });
    expect(outcomes).toEqual([
      ["/early", "reset"],
      ["/late", "cut"],
    ]);
  });

  it("passes on other answers as they are, and takes other targets", async () => {
    const a = await start((_request, response) => response.writeHead(404, { "retry-after": "7" }).end("no"));
    const b = await start(named("b"));
    const balancer = await balance([a]);
    const answer = await fetch(balancer.url);
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([404, "7", "no"]);
    balancer.setTargets([b]);
    expect((await (await fetch(balancer.url)).text())[0]).toBe("b");
  });
});
