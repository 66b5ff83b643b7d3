import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { type ListingAdapter, listPipelines } from "../../src/discovery/list-pipelines.ts";

type Discover = ListingAdapter["discover"];

const adapterOf = (discover: Discover): ListingAdapter =>
  ({ kind: "test", parseTarget: (target: unknown) => target, discover }) as unknown as ListingAdapter;

const list = (discover: Discover, signal = new AbortController().signal): ReturnType<typeof listPipelines> =>
  listPipelines(adapterOf(discover), { tools: [], signal, log: () => {} });

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("a backend may be slow, as long as something comes", async () => {
  const listing = list(async function* () {
    for (const name of ["a", "b", "c"]) {
      await later(50_000);
      yield { name, target: {} };
    }
  });
  await jest.advanceTimersByTimeAsync(150_000);
  expect(await listing).toMatchObject({ pipelines: [{ name: "a" }, { name: "b" }, { name: "c" }], isCut: false });
  expect(jest.getTimerCount()).toBe(0);
});

test("a backend that falls silent fails, is told by its signal, and what came is kept", async () => {
  let given: AbortSignal | undefined;
  const listing = list(async function* (_filter, { signal }) {
    given = signal;
    yield { name: "a", target: {} };
    await new Promise(() => {});
  });
  await jest.advanceTimersByTimeAsync(59_999);
  expect(given?.aborted).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  const { pipelines, failure } = await listing;
  expect(pipelines).toEqual([{ name: "a", target: {} }]);
  expect(failure).toMatchObject({ code: "unavailable", message: "nothing came for 60000 ms" });
  expect(given?.aborted).toBe(true);
});

test("an adapter that throws before it lists fails like any other", async () => {
  const failure = new Error("no route");
  expect(
    await list(() => {
      throw failure;
    }),
  ).toEqual({ pipelines: [], isCut: false, failure });
});

test("an adapter that heeds the signal is no failure, nor is one that only begins after it", async () => {
  const caller = new AbortController();
  const heed: Discover = async function* (_filter, { signal }) {
    yield { name: "a", target: {} };
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("the request was aborted")));
      if (signal.aborted) reject(new Error("the request was aborted"));
    });
  };
  const listing = list(heed, caller.signal);
  await jest.advanceTimersByTimeAsync(0);
  caller.abort(new Error("interrupted"));
  expect(await listing).toEqual({ pipelines: [{ name: "a", target: {} }], isCut: false });
  expect(await list(heed, caller.signal)).toEqual({ pipelines: [], isCut: false });
});

test("an endless list is ended", async () => {
  let isReturned = false;
  const { pipelines, isCut } = await list(async function* () {
    try {
      for (let number = 0; ; number += 1) yield { name: String(number), target: {} };
    } finally {
      isReturned = true;
    }
  });
  expect([pipelines.length, isCut, isReturned]).toEqual([10_000, true, true]);
});

test("a tool that says more than the pipeline has it already; one that says just the same goes before", async () => {
  const target = (job: string, more: JsonObject = {}): JsonObject => ({ queue: "reports", job, ...more });
  const adapter = adapterOf(async function* () {
    for (const reported of [target("make"), target("send"), target("send", { attempts: 2 }), target("drop"), {}])
      yield { name: "told", target: reported };
  });
  const tools = [
    { name: "make_report", target: target("make", { options: { removeOnComplete: { age: 1 } } }) },
    { name: "send_twice", target: target("send", { attempts: 2, options: {} }) },
    { name: "send_other", target: target("send", { attempts: 3 }) },
    { name: "send", target: target("send") },
    { name: "elsewhere", target: { job: "drop" } },
  ];
  const listed = await listPipelines(adapter, { tools, signal: new AbortController().signal, log: () => {} });
  expect(listed.pipelines.map(({ configuredAs }) => configuredAs)).toEqual([
    "make_report",
    "send",
    "send_twice",
    undefined,
    undefined,
  ]);
});
