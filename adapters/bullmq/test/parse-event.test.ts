import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { isLater, parseCursor, toCursor } from "../src/events/event-cursor.ts";
import { parseEvent } from "../src/events/parse-event.ts";
import { endToSnapshot } from "../src/mapping/end-to-snapshot.ts";
import type { QueueEvent } from "../src/redis/client.ts";

/** One event of each kind, as BullMQ 6.7 wrote them. */
const events: readonly QueueEvent[] = JSON.parse(
  readFileSync(new URL("./fixtures/events.json", import.meta.url), "utf8"),
);

const update: Readonly<Record<string, "nothing" | "a change" | "an end">> = {
  added: "nothing",
  waiting: "nothing",
  paused: "nothing",
  "retries-exhausted": "nothing",
  delayed: "a change",
  "removed from wait": "a change",
  "removed from prioritized": "a change",
  "removed from delayed": "a change",
  "active from waiting": "a change",
  "waiting from active": "a change",
  "waiting-children": "a change",
  progress: "a change",
  "completed from active": "an end",
  "failed from active": "an end",
};

const nameOf = ({ fields: { event, prev } }: QueueEvent): string =>
  prev === undefined ? `${event}` : `${event} from ${prev}`;

describe("an event", () => {
  it.each(events.map((event) => [nameOf(event), event] as const))("%s", (name, event) => {
    const parsed = parseEvent(event);
    expect(parsed === undefined ? "nothing" : parsed.end === undefined ? "a change" : "an end").toBe(update[name]);
  });

  it("is of every kind that is expected", () => {
    expect(events.map(nameOf).sort()).toEqual(Object.keys(update).sort());
  });

  it.each(["7", "repeat:x:1", "mcp-1", "mcp-0123456789abcdef0123456789abcdeg", undefined])(
    "of job %s is somebody else's",
    (jobId) => {
      const fields = { event: "completed", returnvalue: "1", ...(jobId === undefined ? {} : { jobId }) };
      expect(parseEvent({ eventId: "1-0", fields })).toBeUndefined();
    },
  );

  it("that tells an end is enough for a snapshot", () => {
    const at = { eventId: "1795975768144-3" };
    expect(endToSnapshot({ ...at, event: "completed", text: '{"files":14}' })).toEqual({
      status: "succeeded",
      questions: [],
      endedAt: 1795975768144,
      output: { kind: "json", value: { files: 14 } },
    });
    expect(endToSnapshot({ ...at, event: "failed", text: "no such file\nat x" })).toEqual({
      status: "failed",
      questions: [],
      endedAt: 1795975768144,
      failure: { kind: "job", reason: "no such file" },
    });
    expect(endToSnapshot({ ...at, event: "removed", text: "wait" })).toBeUndefined();
  });
});

describe("a cursor", () => {
  it("is read as it was written", () => {
    expect(parseCursor(toCursor({ "bull:a": "5-1", "bull:b": "0-0" }))).toEqual({ "bull:a": "5-1", "bull:b": "0-0" });
  });

  it.each([undefined, "", "x", "[]", "null", '{"v":2,"queues":{"a":"1-1"}}', '{"v":1,"queues":{"a":"$"}}', '{"v":1}'])(
    "%j is none",
    (text) => {
      expect(parseCursor(text)).toEqual({});
    },
  );

  it.each([
    ["5-1", "5-0", true],
    ["5-10", "5-9", true],
    ["10-0", "9-9", true],
    ["5-0", "5-0", false],
    ["4-9", "5-0", false],
  ])("%s comes after %s: %s", (one, other, later) => {
    expect(isLater(one, other)).toBe(later);
  });
});
