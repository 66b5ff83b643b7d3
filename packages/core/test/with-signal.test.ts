import { expect, jest, test } from "@jest/globals";
import { withSignal } from "../src/adapter.ts";

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
