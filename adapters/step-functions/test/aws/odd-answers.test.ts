import "../aws-environment.ts";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { asExecutionRef } from "@taskbridge/core/adapter";
import { stepFunctions } from "../../src/index.ts";
import { callContext, newKey } from "../call-context.ts";

/** What stands between: a proxy, a firewall, a service that is not AWS'. */
let answer: (response: ServerResponse, action: string) => void = () => {};
/** `x-amz-date` of each request. */
const signedAt: string[] = [];
const server = createServer((message, response) => {
  message.resume().on("end", () => {
    signedAt.push(String(message.headers["x-amz-date"]));
    answer(response, String(message.headers["x-amz-target"]));
  });
});
let adapter: ReturnType<typeof stepFunctions>;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  adapter = stepFunctions({ region: "eu-west-1", endpoint: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await adapter.close?.();
  server.close();
});

const json = "application/x-amz-json-1.0";
const sends = (status: number, type: string, body: string, headers: Record<string, string> = {}) => {
  answer = (response) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  };
};

const stateMachine = "arn:aws:states:eu-west-1:123456789012:stateMachine:orders";
const start = () => adapter.start({ key: newKey(), target: { stateMachine }, input: "{}", attempt: 1 }, callContext());
const ref = asExecutionRef("arn:aws:states:eu-west-1:123456789012:execution:orders:mcp-1");
const inspection = () => adapter.inspect?.([{ ref, want: "status" }], callContext());

it.each([
  ["text/html", "<html>slow down</html>"],
  ["text/plain", ""],
  [json, '{"message":"slow down"}'],
])("takes 429 for a limited rate, whatever comes with it (%s)", async (type, body) => {
  sends(429, type, body, { "retry-after": "7" });
  const reported = { code: "throttled", retryAfterMs: 7_000, notSent: true };
  await expect(start()).rejects.toMatchObject(reported);
  // As a whole, so that the engine leaves AWS alone.
  await expect(inspection()).rejects.toMatchObject(reported);
});

it.each([500, 502, 503])(
  "takes %s with a page for unavailable, and keeps the pause that it asks for",
  async (status) => {
    sends(status, "text/html", "<html>sorry</html>", { "retry-after": "7" });
    await expect(inspection()).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 7_000 });
  },
);

it("does not blame the machine for an answer that names no execution", async () => {
  sends(200, json, "{}");
  const nothing = answer;
  await expect(start()).rejects.toMatchObject({ code: "bad_response", notSent: true });
  answer = (response, action) => {
    if (!action.endsWith("DescribeStateMachine")) return nothing(response, action);
    response.writeHead(200, { "content-type": json });
    response.end(JSON.stringify({ stateMachineArn: stateMachine, name: "orders", type: "STANDARD" }));
  };
  await expect(start()).rejects.toMatchObject({
    code: "outcome_unknown",
    notSent: false,
    message: expect.stringContaining("names no execution"),
  });
});

it("tries again after a signature that came too late, by AWS' clock", async () => {
  const ahead = new Date(Date.now() + 3_600_000);
  const body = {
    __type: "com.amazon.coral.service#InvalidSignatureException",
    message: "Signature expired: 20260101T000000Z is now earlier than 20260101T005500Z (20260101T010000Z - 5 min.)",
  };
  sends(400, json, JSON.stringify(body), { date: ahead.toUTCString() });
  await expect(start()).rejects.toMatchObject({ code: "unavailable", notSent: true });
  sends(200, json, "{}", { date: ahead.toUTCString() });
  await start().catch(() => {});
  const iso = signedAt.at(-1)?.replace(/^(....)(..)(.....)(..)/, "$1-$2-$3:$4:") ?? "";
  expect(Math.abs(Date.parse(iso) - ahead.getTime())).toBeLessThan(60_000);
});

it("does not try again with a key that is wrong", async () => {
  const message = "The request signature we calculated does not match the signature you provided.";
  sends(400, json, JSON.stringify({ __type: "com.amazon.coral.service#InvalidSignatureException", message }));
  await expect(start()).rejects.toMatchObject({ code: "denied" });
});
