import { getEventListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { firstOf } from "../../src/session/first-of.ts";

const listenersOf = ({ signal }: AbortController): number => getEventListeners(signal, "abort").length;

describe("the first of some signals", () => {
  test("fires once, with its reason, and lets go of the others", () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const { signal } = firstOf([one.signal, two.signal]);
    expect(signal.aborted).toBe(false);
    two.abort("two");
    one.abort("one");
    expect(signal.reason).toBe("two");
    expect([listenersOf(one), listenersOf(two)]).toEqual([0, 0]);
  });

  test("has fired where one of them had", () => {
    const one = new AbortController();
    const { signal } = firstOf([one.signal, AbortSignal.abort("before")]);
    expect(signal.reason).toBe("before");
    expect(listenersOf(one)).toBe(0);
  });

  test("leaves nothing behind once it is released", () => {
    const one = new AbortController();
    const bare = Object.getOwnPropertySymbols(new AbortController().signal).length;
    for (let time = 0; time < 100; time++) firstOf([one.signal]).release();
    expect(listenersOf(one)).toBe(0);
    const { signal, release } = firstOf([one.signal]);
    release();
    one.abort();
    expect(signal.aborted).toBe(false);
    expect(Object.getOwnPropertySymbols(one.signal)).toHaveLength(bare);
  });
});
