import { expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import type { Execution, ListCall } from "../../src/google/client.ts";
import { tokenBucket } from "../../src/google/token-bucket.ts";
import { type StepLists, stepLists } from "../../src/inspection/step-lists.ts";

const workflow = "projects/p/locations/l/workflows/w";
const names = Array.from({ length: 2_000 }, (_, index) => `${workflow}/executions/e${index}`);
const rowOf = (name: string): Execution => ({
  name,
  state: "ACTIVE",
  steps: [{ routine: "main", step: "work" }],
  labels: {},
});

interface Scene {
  readonly lists: StepLists;
  readonly noted: Set<string>;
  readonly pages: () => number;
  readonly advance: (ms: number) => void;
  readonly logged: string[];
  readonly want: (some: readonly string[]) => Promise<void>;
}

const open = (listed: number, fails = false): Scene => {
  let now = 0;
  let pages = 0;
  const noted = new Set<string>();
  const logged: string[] = [];
  const list = async (_workflow: string, { size, token = "0" }: ListCall) => {
    pages += 1;
    if (fails) throw new BridgeError("throttled", "the quota is used up");
    const to = Number(token) + size;
    return { rows: names.slice(Number(token), to).map(rowOf), ...(to < names.length ? { next: String(to) } : {}) };
  };
  const lists = stepLists({
    client: { list },
    rate: tokenBucket(1_000, 1),
    note: (name) => noted.add(name),
    lastListed: () => listed,
    closing: new AbortController().signal,
    now: () => now,
  });
  return {
    lists,
    noted,
    logged,
    pages: () => pages,
    advance: (ms) => {
      now += ms;
    },
    want: async (some) => {
      const executions = some.map((name) => ({ name }));
      lists.want(workflow, executions, (_level, message) => logged.push(message));
      // All that is awaited is there already.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};

test("lists where executions are once it is cheaper than to read those that are wanted, and not at once again", async () => {
  const { lists, noted, pages, advance, want } = open(2_000);
  await want(names.slice(0, 60));
  expect([pages(), lists.isFresh(workflow)]).toEqual([0, false]);
  await want(names.slice(60, 120));
  expect([pages(), noted.size, lists.isFresh(workflow)]).toEqual([20, 2_000, true]);
  await want(names);
  expect(pages()).toBe(20);
  advance(5_000);
  await want([]);
  expect(pages()).toBe(40);
  advance(60_000);
  expect(lists.isFresh(workflow)).toBe(false);
});

test("leaves executions to be read by themselves where there are too many, or the list fails, which is logged", async () => {
  const many = open(20_000);
  await many.want(names);
  expect(many.pages()).toBe(0);
  const failing = open(2_000, true);
  await failing.want(names);
  failing.advance(30_000);
  await failing.want(names);
  expect([failing.pages(), failing.lists.isFresh(workflow)]).toEqual([1, false]);
  expect(failing.logged).toEqual(["steps are read one by one: the quota is used up"]);
});
