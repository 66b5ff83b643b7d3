import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { openBySentinels } from "../../src/redis/redis-client.ts";
import { until } from "../redis-bench.ts";

const opened: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** Keeps the first bytes of each connection, and answers what it is asked. */
const listen = async (answer: (asked: string) => string) => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    opened.push({ close: () => socket.destroy() });
    socket.on("error", () => {});
    socket.once("data", (bytes) => received.push(bytes));
    socket.on("data", (bytes) => socket.write(answer(String(bytes))));
  });
  opened.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { received, port };
};

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
/** Of a Sentinel that knows no others. */
const replyOf = (command: string, masterPort: number): string => {
  if (command.includes("get-master-addr-by-name")) return `*2\r\n${bulk("127.0.0.1")}${bulk(String(masterPort))}`;
  if (/hello/i.test(command)) return `%1\r\n${bulk("proto")}:3\r\n`;
  return command.includes("sentinels") ? "*0\r\n" : "+OK\r\n";
};
/** What TLS begins with. */
const handshake = 0x16;

describe("a store that Sentinels lead to", () => {
  it.each([
    ["rediss://app:s3cret@mine", "redis://", { sentinel: false, master: true }],
    ["redis://app:s3cret@mine", "redis://", { sentinel: false, master: false }],
  ])("%s by %s encrypts what the URL of each says", async (url, scheme, isEncrypted) => {
    const master = await listen(() => "");
    const sentinel = await listen((asked) =>
      asked
        .split(/\*\d+\r\n/)
        .slice(1)
        .map((command) => replyOf(command, master.port))
        .join(""),
    );
    const client = openBySentinels(url, [`${scheme}127.0.0.1:${sentinel.port}`], 2_000);
    opened.push({ close: () => client.disconnect() });
    client.connect().catch(() => {});
    const first = await until("the master is spoken to", () => master.received[0]);
    expect(sentinel.received[0]?.[0] === handshake).toBe(isEncrypted.sentinel);
    expect(first[0] === handshake).toBe(isEncrypted.master);
    if (isEncrypted.master) expect(String(Buffer.concat(master.received))).not.toContain("s3cret");
  });

  it("speaks TLS to Sentinels of rediss://, before any password", async () => {
    const sentinel = await listen(() => "");
    const client = openBySentinels("rediss://mine", [`rediss://app:s3cret@127.0.0.1:${sentinel.port}`], 2_000);
    opened.push({ close: () => client.disconnect() });
    client.connect().catch(() => {});
    const first = await until("the Sentinel is spoken to", () => sentinel.received[0]);
    expect(first[0]).toBe(handshake);
  });
});
