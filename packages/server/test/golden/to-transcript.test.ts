import { describe, expect, test } from "@jest/globals";
import { type Line, startConversation } from "./conversation.ts";
import { toTranscript } from "./to-transcript.ts";
import { findDifference } from "./transcript-file.ts";

const server = (text: string): Line => ({ from: "server", status: 200, text });

describe("a transcript", () => {
  test("keeps every byte but IDs and instants", () => {
    const one = "0a".repeat(20);
    const lines: readonly Line[] = [
      { from: "client", text: `{"taskId":"mine"}` },
      server(`{ "b":1, "taskId":"${one}", "a":"see ${one}/x", "at":"2026-01-02T00:00:00.000Z", "\\u00fc":1.0}`),
      { from: "client", headers: { "mcp-name": one }, text: `{"taskId":"${one}"}` },
      server(`{"at":"2026-01-01T00:00:00.000Z","again":"2026-01-02T00:00:00.000Z","other":"2026-01-01T00:00:00Z"}`),
      server(`{"taskId":"${one}0","requestState":"s.t"}`),
      { from: "client", headers: { "mcp-session-id": "guessed" }, text: `{"taskId":"theirs"}` },
      { from: "server", status: 200, headers: { "mcp-session-id": "s-1" }, text: `{"taskId":"theirs"}` },
      { from: "client", http: "GET", headers: { "mcp-session-id": "s-1" } },
      { from: "server", status: 202 },
    ];
    expect(toTranscript(lines)).toEqual([
      `{"from":"client","message":{"taskId":"mine"}}`,
      `{"from":"server","status":200,"message":{ "b":1, "taskId":"<task-1>", "a":"see <task-1>/x", "at":"<time-2>", "\\u00fc":1.0}}`,
      `{"from":"client","headers":{"mcp-name":"<task-1>"},"message":{"taskId":"<task-1>"}}`,
      `{"from":"server","status":200,"message":{"at":"<time-1>","again":"<time-2>","other":"2026-01-01T00:00:00Z"}}`,
      `{"from":"server","status":200,"message":{"taskId":"<task-2>","requestState":"<state-1>"}}`,
      `{"from":"client","headers":{"mcp-session-id":"guessed"},"message":{"taskId":"theirs"}}`,
      `{"from":"server","status":200,"headers":{"mcp-session-id":"<session-1>"},"message":{"taskId":"theirs"}}`,
      `{"from":"client","http":"GET","headers":{"mcp-session-id":"<session-1>"}}`,
      `{"from":"server","status":202}`,
    ]);
  });

  test("has no place for a message of several lines", () => {
    expect(() => toTranscript([server("{\n}")])).toThrow("several lines");
  });
});

test.each([
  [undefined, "a\n", "does not exist."],
  ["a\nb\n", "a\nb\n", undefined],
  ["a\n{1,2}\n", "a\n{2,1}\n", "differs in line 2:\n- {1,2}\n+ {2,1}"],
  ["a\nb\n", "a\n", "differs in line 2:\n- b\n+ "],
  ["a\n", "a\nb\n", "differs in line 2:\n- \n+ b"],
  ["a\n", "a", "differs in line 2:\n- \n+ (no line)"],
  ["a", "a\n", "differs in line 2:\n- (no line)\n+ "],
])("%j against %j: %j", (expected, got, difference) => {
  expect(findDifference(expected, got)).toBe(difference);
});

describe("a conversation", () => {
  const eventStream = { headers: { "content-type": "text/event-stream" } };

  test("writes down messages as they are read, from bodies and from streams", async () => {
    const { exchange, lines, end } = startConversation();
    const events = `: alive\n\nid: 1\ndata:\n\nevent: message\ndata: {"ü":1}\n\ndata: {"b":2}\n\n`;
    const stream = await exchange({ text: "{}" }, async () => new Response(events, eventStream));
    expect(await stream.next()).toEqual({ ü: 1 });
    const body = await exchange({ text: "[]" }, async () => new Response(`{"c": 3}`, { status: 400 }));
    expect(await body.rest()).toEqual([{ c: 3 }]);
    expect(await stream.rest()).toEqual([{ b: 2 }]);
    const headers = { "mcp-session-id": "s-1" };
    const nothing = await exchange({ http: "DELETE" }, async () => new Response(null, { status: 204, headers }));
    expect(await nothing.rest()).toEqual([]);
    expect(lines).toEqual([
      { from: "client", text: "{}" },
      { from: "server", status: 200, stream: true, text: `{"ü":1}` },
      { from: "client", text: "[]" },
      { from: "server", status: 400, text: `{"c": 3}` },
      { from: "server", status: 200, stream: true, text: `{"b":2}` },
      { from: "client", http: "DELETE" },
      { from: "server", status: 204, headers },
    ]);
    expect(end).not.toThrow();
  });

  test("does not end while something may still come", async () => {
    const { exchange, end } = startConversation();
    const stream = await exchange({ text: "{}" }, async () => new Response("data: {}\n\n", eventStream));
    await stream.next();
    expect(end).toThrow("1 answers were not read");
    stream.leave();
    expect(end).not.toThrow();
  });

  test("takes nothing for text that is none", async () => {
    const { exchange } = startConversation();
    const body = await exchange({ text: "{}" }, async () => new Response(Uint8Array.of(0x22, 0xff, 0x22)));
    await expect(body.next()).rejects.toThrow();
  });
});
