import { describe, expect, it } from "@jest/globals";
import { costCases } from "../src/costs/cost-cases.ts";
import { type CostFigures, countCalls } from "../src/costs/measure-costs.ts";

const none = {};

/** Each other server looks once after a write for what may now be due. */
const inspections = (servers: number) => ({ due: servers, nextWakeAt: servers });

const expected: Readonly<Record<string, Omit<CostFigures, "name">>> = {
  "a start, one server": {
    store: { create: 1, readPayload: 1, revise: 1, read: 2 },
    others: none,
    backend: { start: 1 },
  },
  "a start, three servers": {
    store: { create: 1, readPayload: 1, revise: 1, read: 2 },
    others: inspections(2),
    backend: { start: 1 },
  },
  "a poll of a running task, looked at within its interval": { store: { read: 1 }, others: none, backend: none },
  "a poll of a running task, to be looked at again": {
    store: { read: 2, lease: 1 },
    others: none,
    backend: { inspect: 1 },
  },
  "a poll that finds the end": {
    store: { read: 2, lease: 1, revise: 1, readPayload: 1 },
    others: inspections(2),
    backend: { inspect: 1 },
  },
  "an end that the backend pushes": {
    store: { findByExecution: 1, revise: 1, "values.write": 1 },
    others: inspections(2),
    backend: none,
  },
  "a poll of an ended task, with its result": {
    store: { read: 1, readPayload: 1 },
    others: none,
    backend: none,
  },
  "a cancel": { store: { read: 2, revise: 3 }, others: inspections(2), backend: { cancel: 1, inspect: 1 } },
  "a task's expiry": {
    store: { due: 2, nextWakeAt: 1, remove: 1 },
    others: none,
    backend: { forget: 1 },
  },
  "a minute of an idle server, alone": {
    store: { due: 12, nextWakeAt: 12, renew: 24, list: 1 },
    others: none,
    backend: none,
  },
  "a minute of three idle servers": {
    store: { due: 12, nextWakeAt: 12, renew: 24, list: 1 },
    others: { due: 24, nextWakeAt: 24, lease: 48 },
    backend: none,
  },
  "a minute of three idle servers, the backend pushes": {
    store: { due: 12, nextWakeAt: 12, renew: 48, list: 1 },
    others: { due: 24, nextWakeAt: 24, lease: 96 },
    backend: none,
  },
  "a minute of a running task that nobody reads": {
    store: { due: 12, nextWakeAt: 12, renew: 24, list: 1 },
    others: { due: 24, nextWakeAt: 24, lease: 48 },
    backend: { inspect: 1 },
  },
};

describe("what a task costs in calls", () => {
  it.each(costCases.filter(({ name }) => name in expected))("$name", async (costCase) => {
    const { name } = costCase;
    expect(await countCalls(costCase)).toEqual({ name, ...expected[name] });
  });

  it("is pinned for every case", () => {
    const pinned = [...Object.keys(expected), polled];
    expect(costCases.map(({ name }) => name).sort()).toEqual(pinned.sort());
  });
});

const polled = "a minute of a running task, each of three servers polled each second";

describe(polled, () => {
  it("is a look every two seconds, and little but reads", async () => {
    const costCase = costCases.find(({ name }) => name === polled);
    if (costCase === undefined) throw new Error("it is no case any more");
    const { store, others, backend } = await countCalls(costCase);
    const total = (verb: string): number => (store[verb] ?? 0) + (others[verb] ?? 0);
    // 180 polls; whoever looks, or learns that another does, reads again.
    expect(backend).toEqual({ inspect: expect.any(Number) });
    expect(backend.inspect).toBeLessThanOrEqual(31);
    expect(backend.inspect).toBeGreaterThanOrEqual(20);
    expect(total("read")).toBeGreaterThanOrEqual(180);
    expect(total("read")).toBeLessThanOrEqual(360);
    expect(total("revise")).toBe(0);
  });
});
