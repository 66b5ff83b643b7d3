import { describe, expect, test } from "@jest/globals";
import { tapStream } from "../../src/rev-2025/stream-tap.ts";
import { eventually } from "../serve.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A stream that a test writes to. */
const source = () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return {
    stream,
    write: (text: string) => controller?.enqueue(bytes(text)),
    close: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
    isCancelled: () => cancelled,
  };
};

describe("a tapped stream", () => {
  test("begins with a comment, so that its headers go out, and ends with its source", async () => {
    const { stream, write, close } = source();
    const tap = tapStream(stream, new AbortController().signal);
    write("data: 1\n\n");
    close();
    expect(await new Response(tap.body).text()).toBe(": open\n\ndata: 1\n\n");
    expect(tap.closed.aborted).toBe(true);
  });

  test("fails with its source, and is closed then", async () => {
    const { stream, fail } = source();
    const gone = new AbortController();
    const tap = tapStream(stream, gone.signal);
    const read = new Response(tap.body).text();
    fail(new Error("broken"));
    await expect(read).rejects.toThrow("broken");
    expect(tap.closed.aborted).toBe(true);
  });

  test.each(["before it is read", "while it is read"])("ends when its reader is gone %s", async (when) => {
    const { stream, isCancelled } = source();
    const gone = new AbortController();
    if (when.startsWith("before")) gone.abort();
    const tap = tapStream(stream, gone.signal);
    const read = new Response(tap.body).text();
    gone.abort();
    expect(tap.closed.aborted).toBe(true);
    expect(await read).toBe(": open\n\n");
    expect(isCancelled()).toBe(true);
  });

  test("is ready while its reader waits for more", async () => {
    const { stream, write } = source();
    const tap = tapStream(stream, new AbortController().signal);
    const reader = tap.body.getReader();
    await reader.read();
    expect(tap.isReady()).toBe(false);
    const next = reader.read();
    await eventually(() => tap.isReady());
    write("data: 1\n\n");
    expect((await next).value).toEqual(bytes("data: 1\n\n"));
    expect(tap.isReady()).toBe(false);
    tap.end();
    expect((await reader.read()).done).toBe(true);
  });

  test.each(["ended in order", "given up for lost", "left by its reader", "left with its connection"])(
    "%s by a reader that has read all: only the first has it for sure",
    async (how) => {
      const { stream, write } = source();
      const gone = new AbortController();
      const tap = tapStream(stream, gone.signal);
      const reader = tap.body.getReader();
      await reader.read();
      write("data: 1\n\n");
      await reader.read();
      const next = reader.read();
      await eventually(() => tap.isReady());
      if (how === "ended in order") tap.end();
      else if (how === "given up for lost") tap.lose();
      else if (how === "left by its reader") await reader.cancel();
      else gone.abort();
      expect((await next).done).toBe(true);
      expect([tap.closed.aborted, tap.isReady()]).toEqual([true, how === "ended in order"]);
      // What comes later changes nothing about it.
      tap.lose();
      expect(tap.isReady()).toBe(how === "ended in order");
    },
  );
});
