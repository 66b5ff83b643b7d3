import { expect, jest, test } from "@jest/globals";
import { pause, unlessAborted, within, withSignal } from "../../src/adapter.ts";
import { fakeClock } from "../../src/testing.ts";

const never = (): Promise<never> => new Promise(() => {});

test("gives what the work gives, and leaves nothing at the signal", async () => {
  const { signal } = new AbortController();
  const added = jest.spyOn(signal, "addEventListener");
  const removed = jest.spyOn(signal, "removeEventListener");
  await expect(withSignal(signal, async () => 7)).resolves.toBe(7);
  await expect(withSignal(signal, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const listeners = added.mock.calls.map(([, listener]) => listener);
  expect(listeners).toHaveLength(2);
  expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(listeners);
});

test("rejects with AbortError once the signal fires, whatever the work does", async () => {
  const abort = new AbortController();
  const waiting = withSignal(abort.signal, never);
  abort.abort(new Error("for a reason of its own"));
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
});

test("does not even begin when the signal has fired", async () => {
  const work = jest.fn(never);
  await expect(withSignal(AbortSignal.abort(), work)).rejects.toMatchObject({ name: "AbortError" });
  expect(work).not.toHaveBeenCalled();
});

test("rejects with the signal's reason, or the given one, although the work goes on", async () => {
  const abort = new AbortController();
  const own = unlessAborted(abort.signal, never());
  const given = unlessAborted(abort.signal, never(), () => new Error("stopped"));
  abort.abort(new Error("gone"));
  await expect(own).rejects.toThrow("gone");
  await expect(given).rejects.toThrow("stopped");
  await expect(unlessAborted(abort.signal, Promise.resolve(7))).rejects.toThrow("gone");
  await expect(unlessAborted(new AbortController().signal, Promise.resolve(7))).resolves.toBe(7);
});

test("ends a wait by its time or its signal, and leaves neither a timer nor a listener", async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const late = within(never(), 100, { clock });
  await clock.advance(100);
  await expect(late).resolves.toBeUndefined();
  await expect(within(Promise.resolve(7), 100, { clock, signal: abort.signal })).resolves.toBe(7);
  await expect(within(Promise.reject(new Error("broken")), 100, { clock })).rejects.toThrow("broken");
  const removed = jest.spyOn(abort.signal, "removeEventListener");
  const ended = [within(never(), 100, { clock, signal: abort.signal }), pause(100, { clock, signal: abort.signal })];
  abort.abort();
  await expect(Promise.all(ended)).resolves.toEqual([undefined, undefined]);
  await expect(pause(100, { clock, signal: abort.signal })).resolves.toBeUndefined();
  expect([clock.scheduled, removed.mock.calls.length]).toEqual([0, 3]);
});
