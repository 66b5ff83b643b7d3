import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { WorkflowAdapter } from "@taskbridge/core/adapter";
import { type AdapterContractOptions, testAdapter } from "../src/adapter.ts";
import { mutants } from "./adapter-mutants.ts";
import { openFake, refusesDeclines } from "./adapter-under-test.ts";
import { recordingRunner } from "./recording-runner.ts";

const runner = { describe, it, beforeEach, afterEach, skip: it.skip };
const quick = { deadlineMs: 5_000, pauseMs: 2 };

testAdapter({ name: "fakeAdapter", runner, open: async () => openFake(), without: [], ...quick });

testAdapter({
  name: "fakeAdapter, findable, with evolving refs and slow cancels",
  runner,
  open: async () =>
    openFake({
      traits: { start: { kind: "findable", visibilityDelayMs: 50, windowMs: 60_000 }, cancel: "requested" },
      startsAs: "queued",
      evolvingRefs: true,
      hidesDetail: true,
      findableAfterMs: 50,
      outputChunkBytes: 1_000,
      eventsCarry: { snapshot: false },
      startReportsState: false,
      onCancel: (execution) => {
        setTimeout(() => execution.stop("as asked"), 20);
      },
    }),
  without: ["idempotent start"],
  ...quick,
});

testAdapter({
  name: "fakeAdapter, of decisions that cannot be declined, one look-up at a time",
  runner,
  open: async () =>
    openFake({
      traits: { inspectBatch: 1, questions: "decision", progress: "text" },
      onAnswer: refusesDeclines,
      without: ["watch", "receive"],
    }),
  without: ["watch", "receive"],
  ...quick,
});

testAdapter({
  name: "fakeAdapter that can only be heard",
  runner,
  open: async () =>
    openFake({
      traits: { start: { kind: "at-most-once" }, cancel: "none", questions: "none", progress: "none" },
      without: [
        "inspect",
        "cancel",
        "answer",
        "heartbeat",
        "find",
        "receive",
        "readOutput",
        "forget",
        "discover",
        "check",
      ],
    }),
  without: [
    "inspect",
    "cancel",
    "answer",
    "heartbeat",
    "find",
    "receive",
    "readOutput",
    "forget",
    "discover",
    "check",
    "progress",
    "idempotent start",
  ],
  ...quick,
});

const record = (change: Partial<AdapterContractOptions>) => {
  const recording = recordingRunner();
  testAdapter({
    name: "it",
    runner: recording.runner,
    open: async () => openFake(),
    without: [],
    deadlineMs: 200,
    pauseMs: 2,
    ...change,
  });
  return recording;
};

describe("testAdapter", () => {
  it.each(mutants)("catches an adapter that $fault", async ({ caughtBy, change }) => {
    const open = async () => {
      const underTest = openFake();
      const good = underTest.adapter as Required<WorkflowAdapter>;
      return { ...underTest, adapter: { ...good, ...change(good) } };
    };
    const failures = await record({ open }).run(caughtBy);
    expect([...failures.keys()]).toEqual(caughtBy);
  });

  it("compares outputs with what was expected", async () => {
    const open = async () => ({ ...openFake(), expected: () => "something else" });
    const names = ["tells a success with its output", "gives a large output in ranges that make up the whole"];
    expect([...(await record({ open }).run(names)).keys()]).toEqual(names);
  });

  it("catches a list of missing features that is not the truth", async () => {
    const name = "is without exactly what it says";
    expect((await record({ without: ["find"] }).run([name])).size).toBe(1);
    const { journal: _journal, ...underTest } = openFake();
    expect((await record({ open: async () => underTest }).run([name])).size).toBe(1);
  });

  it("lists what it skips", () => {
    const { skipped, names } = record({ without: ["find", "journal"] });
    expect(skipped).toEqual([
      "finds an execution by its key (without find)",
      "finds nothing under a key that was never sent (without find)",
    ]);
    expect(names).not.toContain("finds an execution by its key");
  });

  it("lets a known failure pass, and fails once it no longer is one", async () => {
    const name = "takes heartbeats while the question is open, and no longer";
    const broken = async () => {
      const underTest = openFake();
      return { ...underTest, adapter: { ...underTest.adapter, heartbeat: async () => {} } };
    };
    const titled = `${name} (known to fail: no state)`;
    expect((await record({ open: broken, knownFailing: { [name]: "no state" } }).run([titled])).size).toBe(0);
    expect((await record({ knownFailing: { [name]: "no state" } }).run([titled])).size).toBe(1);
    const stale = await record({ knownFailing: { "no such case": "renamed" } }).run([
      "has no known failure of a case that does not exist",
    ]);
    expect(stale.size).toBe(1);
  });
});
