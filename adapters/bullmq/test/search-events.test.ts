import { beforeEach, describe, expect, it } from "@jest/globals";
import { eventSearcher, type SearchEvents } from "../src/events/search-events.ts";
import type { QueueEvent, QueuePort } from "../src/redis/client.ts";

/** A stream in memory: of the port a search needs no more. */
const fakeQueue = () => {
  const events: QueueEvent[] = [];
  const reads: number[] = [];
  const at = (id: string): number => Number.parseInt(id.replace("(", ""), 10);
  const queue = {
    prefix: "bull",
    name: "q",
    readEventsBack: async (from: string, to: string, count: number) => {
      const isBefore = (ms: number): boolean => from === "+" || (from.startsWith("(") ? ms < at(from) : ms <= at(from));
      const isAfter = (ms: number): boolean => to === "-" || (to.startsWith("(") ? ms > at(to) : ms >= at(to));
      const page = events
        .filter(({ eventId }) => eventId !== "0-0" && isBefore(at(eventId)) && isAfter(at(eventId)))
        .reverse()
        .slice(0, count);
      reads.push(page.length);
      return page;
    },
  } as unknown as QueuePort;
  return {
    queue,
    read: (): number => reads.splice(0).reduce((sum, length) => sum + length, 0),
    largestRead: (): number => Math.max(...reads),
    /** All but the newest. */
    drop: (): void => {
      for (const [index, event] of events.entries())
        if (index < events.length - 1) events[index] = { ...event, eventId: "0-0" };
    },
    add: (fields: Readonly<Record<string, string>>, times = 1): void => {
      for (let count = 0; count < times; count++) events.push({ eventId: `${1000 + events.length}-0`, fields });
    },
  };
};

const other = { event: "completed", jobId: "1", returnvalue: "x".repeat(1_000_000) };
const small = { event: "waiting", jobId: "1" };

describe("a search of events", () => {
  let stream: ReturnType<typeof fakeQueue>;
  let search: SearchEvents;
  beforeEach(() => {
    stream = fakeQueue();
    search = eventSearcher();
  });

  it("of an empty stream is at its beginning", async () => {
    expect(await search(stream.queue, ["a"])).toEqual({ traces: new Map(), reached: "beginning" });
  });

  it("finds the end beyond the removal that followed it", async () => {
    stream.add({ event: "completed", jobId: "a", returnvalue: "7" });
    stream.add(small, 300);
    stream.add({ event: "removed", jobId: "a", prev: "completed" });
    const { traces } = await search(stream.queue, ["a"]);
    expect(traces.get("a")).toMatchObject({ end: { text: "7" }, removal: { text: "completed" } });
  });

  it("stops at a removal from the queue, and once all are found", async () => {
    stream.add(small, 1000);
    stream.add({ event: "failed", jobId: "b", failedReason: "no" });
    stream.add({ event: "removed", jobId: "a", prev: "wait" });
    const { traces } = await search(stream.queue, ["a", "b"]);
    expect(traces.get("a")?.removal?.text).toBe("wait");
    expect(traces.get("b")?.end?.text).toBe("no");
    expect(stream.read()).toBeLessThan(20);
  });

  it("knows a job by any event, though it has no end", async () => {
    stream.add({ event: "added", jobId: "a", name: "x" });
    stream.add(small, 5);
    expect((await search(stream.queue, ["a"])).traces.get("a")).toEqual({});
  });

  it("reads no further than the time from which on it is asked", async () => {
    stream.add(small, 5000);
    expect((await search(stream.queue, ["a"], 5_900)).reached).toBe("since");
    expect(stream.read()).toBeLessThan(400);
    expect((await search(stream.queue, ["a"], 500)).reached).toBe("beginning");
    expect(stream.read()).toBeLessThan(5000);
    // Read to the beginning by now, of which that time is the later half.
    expect((await search(stream.queue, ["a"], 3_000)).reached).toBe("since");
  });

  it("reads large results in small pages, and what is left over with the next search", async () => {
    stream.add({ event: "completed", jobId: "a", returnvalue: "7" });
    stream.add(other, 100);
    expect((await search(stream.queue, ["a"])).reached).toBe("limit");
    expect(stream.largestRead()).toBeLessThanOrEqual(8);
    const first = stream.read();
    expect(first).toBeLessThan(50);
    stream.add({ ...small }, 3);
    expect((await search(stream.queue, ["a"])).reached).toBe("limit");
    const second = stream.read();
    stream.add({ ...small }, 3);
    const { traces } = await search(stream.queue, ["a"]);
    expect(traces.get("a")?.end?.text).toBe("7");
    expect(first + second + stream.read()).toBe(109);
  });

  it("keeps the place of jobs for which the limit left nothing", async () => {
    stream.add({ event: "completed", jobId: "a", returnvalue: "7" });
    stream.add(other, 100);
    await search(stream.queue, ["a"]);
    expect((await search(stream.queue, ["b", "a"])).reached).toBe("limit");
    stream.read();
    await search(stream.queue, ["a"]);
    await search(stream.queue, ["a"]);
    const { traces } = await search(stream.queue, ["a"]);
    expect(traces.get("a")?.end?.text).toBe("7");
    expect(stream.read()).toBeLessThan(80);
  });

  it("does not take what was dropped between two searches for read", async () => {
    stream.add(small, 10);
    expect((await search(stream.queue, ["a"], 1_005)).reached).toBe("since");
    stream.add({ event: "completed", jobId: "a", returnvalue: "7" });
    stream.add(small);
    stream.drop();
    expect(await search(stream.queue, ["a"], 1_005)).toEqual({ traces: new Map(), reached: "beginning" });
  });

  it("of what was read to the beginning reads but the news", async () => {
    stream.add(small, 1000);
    await search(stream.queue, ["a"]);
    stream.read();
    stream.add(small, 2);
    expect((await search(stream.queue, ["a"])).reached).toBe("beginning");
    expect(stream.read()).toBe(3);
    // Another job was not looked for in it.
    stream.add({ event: "added", jobId: "b" });
    expect((await search(stream.queue, ["a", "b"])).traces.get("b")).toEqual({});
  });
});
