import { describe, expect, test } from "@jest/globals";
import { asOwnerId, type TaskEngine, type TaskView } from "@taskbridge/core";
import { fakeClock } from "@taskbridge/testkit";
import { waitForAnswer } from "../src/mcp/wait-for-answer.ts";

/** A task as its `revision`th state; the third is its end. */
const aView = (revision: number): TaskView =>
  ({ record: { taskId: "t-1", revision, questions: [], ...(revision < 3 ? {} : { endedAt: 3 }) } }) as never;

const open = () => {
  const clock = fakeClock();
  const changes: ((view: TaskView) => void)[] = [];
  const waitForTask: TaskEngine["waitForTask"] = (_taskId, _access, { timeoutMs, revision = 0 }) =>
    new Promise((resolve) => {
      changes.push(resolve);
      clock.schedule(timeoutMs, () => resolve(aView(revision)));
    });
  const reported: unknown[] = [];
  const wait = waitForAnswer(
    { engine: { waitForTask } as TaskEngine, clock },
    { owner: asOwnerId("local") },
    {
      view: aView(1),
      waitMs: Number.POSITIVE_INFINITY,
      isEnough: () => false,
      over: new AbortController().signal,
      observe: ({ record }) => void reported.push(`heard ${record.revision}`),
      report: ({ revision }) => void reported.push(`reported ${revision}`),
    },
  );
  const change = async (revision: number): Promise<void> => {
    changes.at(-1)?.(aView(revision));
    await clock.settle();
  };
  return { clock, reported, wait, change };
};

describe("a wait", () => {
  test("hears of the state that it begins with at once: what that asks is not put off until something changes", () => {
    expect(open().reported).toEqual(["heard 1"]);
  });

  test("hears of every state up to the end, and reports news at most once a second", async () => {
    const { clock, reported, wait, change } = open();
    await change(2);
    expect(reported).toEqual(["heard 1", "heard 2"]);
    await clock.advance(1_000);
    expect(reported).toContain("reported 2");
    await change(3);
    expect((await wait).record.revision).toBe(3);
    expect(reported.at(-1)).toBe("heard 3");
  });

  test("shows life every 15 s while nothing changes", async () => {
    const { clock, reported, wait, change } = open();
    await clock.advance(45_000);
    expect(reported.filter((line) => line === "reported 1")).toHaveLength(3);
    await change(3);
    await wait;
  });
});
