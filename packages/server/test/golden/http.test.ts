/**
 * HTTP requests as no good client sends them, one after the other to one server, and what it answers, byte for byte but for IDs and
 * times, against `transcripts/http/<revision>.jsonl`. They record what the server does, not what it should do: whoever changes the
 * path of a request sees each difference. `TASKBRIDGE_RECORD_GOLDEN=1` writes them anew.
 */
import { afterEach, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { Authenticator } from "../../src/auth/authenticator.ts";
import { callForTask, rpcClient } from "../rpc-client.ts";
import { serve, stopAll } from "../serve.ts";
import { exchanges20251125, headers20251125, initialize20251125 } from "./http-2025-11-25.ts";
import { exchanges20260728, headers20260728 } from "./http-2026-07-28.ts";
import { type Recorder, recordHttp, withPlaceholders } from "./http-exchange.ts";
import { matchTranscript } from "./transcript-file.ts";

let recorder: Recorder | undefined;
afterEach(async () => {
  recorder?.close();
  await stopAll();
});

const auth: Authenticator = {
  authenticate: async ({ authorization }) => {
    const [, subject] = /^Bearer (alice|bob)$/.exec(authorization ?? "") ?? [];
    if (subject !== undefined) return { identity: { issuer: "test", subject } };
    return { refused: { description: authorization === undefined ? "A token is needed" : "The token is unknown" } };
  },
};

/** A server of two owners whose bodies may have 4,000 bytes, on a clock that stands still. */
const open = async () => {
  const clock = fakeClock();
  const served = await serve({
    auth,
    store: memoryStore({ clock }),
    clock,
    fake: { clock },
    limits: { maxBodyBytes: 4_000 },
  });
  const bearer = { headers: { authorization: "Bearer alice" } };
  return { url: served.url, taskId: await callForTask(rpcClient(served.url), "job", bearer) };
};

test("2025-11-25", async () => {
  const { url, taskId } = await open();
  recorder = recordHttp(url, headers20251125);
  const { headers } = await recorder.play({ name: "an initialize", body: initialize20251125 });
  const session = String(headers["mcp-session-id"]);
  const inSession = { "mcp-session-id": session };
  await recorder.play({
    name: "initialized",
    headers: inSession,
    body: { jsonrpc: "2.0", method: "notifications/initialized" },
  });
  for (const exchange of exchanges20251125(session, taskId)) await recorder.play(exchange);
  matchTranscript("http/2025-11-25", withPlaceholders(recorder.lines, { session, task: taskId }));
});

test("2026-07-28", async () => {
  const { url, taskId } = await open();
  recorder = recordHttp(url, headers20260728);
  for (const exchange of exchanges20260728(taskId)) await recorder.play(exchange);
  matchTranscript("http/2026-07-28", withPlaceholders(recorder.lines, { task: taskId }));
});
