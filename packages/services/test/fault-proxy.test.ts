import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "@jest/globals";
import { type FaultProxy, startFaultProxy } from "../src/fault-proxy.ts";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A server that sends back what it gets, and a client of it through a proxy. */
const open = async (): Promise<{ readonly proxy: FaultProxy; readonly client: Socket; reported(): string }> => {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  endings.push(async () => server.close());
  const proxy = await startFaultProxy({ host: "127.0.0.1", port });
  endings.push(proxy.close);
  const client = connect({ host: proxy.host, port: proxy.port });
  await once(client, "connect");
  let text = "";
  client.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  endings.push(async () => client.destroy());
  return { proxy, client, reported: () => text };
};

const until = async (isTrue: () => boolean): Promise<void> => {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("not within 10 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

it("passes on in order what is held back for a shorter time than what came before", async () => {
  const { proxy, client, reported } = await open();
  proxy.set({ delayMs: 200 });
  client.write("first ");
  // A round trip is counted with the first request after an answer: then that of the first is there, and held back.
  await until(() => {
    if (proxy.roundTrips < 2) client.write(".");
    return proxy.roundTrips >= 2;
  });
  proxy.set({});
  client.write("second");
  await until(() => reported().includes("second"));
  expect(reported()).toMatch(/^first \.+second$/);
});

it("loses the answer to a request that the server has taken", async () => {
  const { proxy, client, reported } = await open();
  proxy.set({ losesAnswer: (request) => String(request) === "lost" });
  const closed = once(client, "close");
  client.write("lost");
  await closed;
  expect([reported(), proxy.lostAnswers]).toEqual(["", 1]);
});
