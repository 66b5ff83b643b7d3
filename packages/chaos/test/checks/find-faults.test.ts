import { describe, expect, it } from "@jest/globals";
import type { Evidence } from "../../src/checks/evidence.ts";
import { findFaults } from "../../src/checks/find-faults.ts";
import { goodRun, goodRunWith, polled, withEvents, withJob, withLines, withTask } from "../good-run.ts";

const wire = "2026-07-28";
const { events, tasks, jobs, lines } = goodRun();
const [firstTask] = tasks;
const [firstJob] = jobs;
const cancelling = { kind: "cancelling", call: "c1-1", wire, sentAt: 5 } as const;
const cancelled = { kind: "cancelled", call: "c1-1", isFinal: true, at: 6 } as const;
const deleting = { kind: "deleting", call: "c1-1", sentAt: 11 } as const;

it("finds nothing in a run that went well", () => {
  expect(findFaults(goodRun())).toEqual([]);
});

describe("a fault of each kind is found", () => {
  const found: readonly (readonly [name: string, evidence: Evidence, fault: string])[] = [
    [
      "two jobs for one start",
      goodRunWith({ jobs: [...jobs, { ...jobs[0], id: "key-9" } as Evidence["jobs"][number]] }),
      "call c1-1 has 2 jobs: key-1 key-9",
    ],
    [
      "no job for a start that was acknowledged",
      goodRunWith({ jobs: jobs.slice(1) }),
      "call c1-1 was acknowledged and has no job",
    ],
    [
      "two tasks for one start",
      goodRunWith({ tasks: [...tasks, { ...firstTask, taskId: "t9" } as Evidence["tasks"][number]] }),
      "call c1-1 has 2 tasks",
    ],
    [
      "another job than the task says",
      withTask({ startKey: "key-9" }),
      "call c1-1 has the job key-1, and its task the start key key-9",
    ],
    ["a job without a task", goodRunWith({ tasks: tasks.slice(1) }), "job key-1 of call c1-1 has no task"],
    [
      "a job of no call",
      goodRunWith({ jobs: [...jobs, { ...firstJob, id: "key-9", call: "c9-9" } as Evidence["jobs"][number]] }),
      "job key-9 is of no call: c9-9",
    ],
    [
      "a job that ran once more than it was given to a worker",
      withLines({ kind: "begins", job: "key-1", call: "c1-1" }),
      "job key-1 was run 2 times, and given to workers 1 times",
    ],
    [
      "a job that was given away again without a stall",
      withJob({ given: 2 }),
      "job key-1 was given to workers 2 times, and has stalled 0 times",
    ],
    [
      "a job that was run and is gone",
      withLines({ kind: "begins", job: "key-8", call: "c1-1" }),
      "job key-8 of call c1-1 was run and is not there",
    ],
    [
      "an acknowledged task that is not found",
      withEvents(polled("not found", 20)),
      "the task of call c1-1 was acknowledged and not found on 2026-07-28",
    ],
    [
      "a task that runs again",
      withEvents(polled("open", 20)),
      "the task of call c1-1 was finished, and later open on 2026-07-28",
    ],
    [
      "a task that ends twice",
      withEvents(polled("cancelled", 20)),
      "the task of call c1-1 was finished, and later cancelled on 2026-07-28",
    ],
    [
      "a cancelled task that goes on",
      withEvents(cancelling, cancelled, polled("open", 7)),
      "the task of call c1-1 was cancelled, and later open on 2026-07-28",
    ],
    [
      "a result that is not the job's",
      withEvents({ kind: "result", call: "c1-1", result: { text: '{"steps":5}', isError: false }, wire }),
      'call c1-1 was given {"text":"{\\"steps\\":5}","isError":false} on 2026-07-28, and its job has {"steps":4}',
    ],
    [
      "a failure that the job does not tell",
      withEvents({ kind: "result", call: "c1-1", result: { text: "broken", isError: true }, wire }),
      'call c1-1 was given {"text":"broken","isError":true} on 2026-07-28, and its job has {"steps":4}',
    ],
    [
      "a result that no worker returned",
      goodRunWith({ lines: lines.filter(({ kind, job }) => kind !== "returns" || job !== "key-1") }),
      'call c1-1 was given {"steps":4} on 2026-07-28, which no worker returned',
    ],
    [
      "a result that nobody could read",
      goodRunWith({ events: events.filter((event) => event.kind !== "result" || event.call !== "c1-1") }),
      "no result of call c1-1 was read: its task is succeeded: ",
    ],
    [
      "two answers to one question",
      withLines({ kind: "is answered", job: "key-2", token: "yes-2" }),
      "job key-2 of call c2-1 has heard 2 answers: yes-1 yes-2",
    ],
    [
      "an answer of nobody",
      goodRunWith({ events: events.filter(({ kind }) => kind !== "answering") }),
      "job key-2 of call c2-1 has heard yes-1, which nobody answered",
    ],
    [
      "an answer that was given after another was taken",
      withEvents({ kind: "answered", call: "c2-1", token: "yes-0", at: 3 }),
      "job key-2 of call c2-1 has heard yes-1, given after one was taken",
    ],
    [
      "an answer that was taken and lost",
      goodRunWith({ lines: lines.map((line) => (line.kind === "is answered" ? { ...line, token: "" } : line)) }),
      "job key-2 of call c2-1 was told that nobody answers",
    ],
    [
      "a list with a foreign task",
      withEvents({ kind: "listed", owner: "bob", taskIds: ["t1"] }),
      "bob was shown the task t1 of ann",
    ],
    [
      "a foreign ID that is told from an unknown one",
      withEvents({ kind: "probed", verb: "cancel", foreign: "-32603: denied", unknown: "-32602: Task not found" }),
      'cancel: a foreign ID is answered "-32603: denied", an unknown one "-32602: Task not found"',
    ],
    [
      "an acknowledged task that is gone",
      goodRunWith({ tasks: tasks.slice(1) }),
      "call c1-1 was told t1, and has no task",
    ],
    ["another task than was told", withTask({ taskId: "t9" }), "call c1-1 was told t1, and its task is t9"],
    [
      "a record that lost what it had of the next version",
      withTask({ hasNext: false }),
      "task t1 of call c1-1 has lost what the next version has written into it",
    ],
    [
      "an internal error",
      withEvents({ kind: "failed", wire, verb: "poll", failure: { kind: "wrong", why: "-32603: Internal error" } }),
      "poll on 2026-07-28 was answered -32603: Internal error",
    ],
    [
      "a task that does not end",
      withTask({ isOver: false, state: "running", message: "step 2" }),
      "task t1 of call c1-1 is not over: running: step 2",
    ],
    [
      "a task that ends as nobody wanted",
      withTask({ state: "cancelled", message: "lost" }),
      "task t1 of call c1-1 is cancelled, not succeeded: lost",
    ],
  ];
  it.each(found)("%s", (_name, evidence, fault) => {
    expect(findFaults(evidence)).toContain(fault);
  });
});

describe("what may be is no fault", () => {
  const fine: readonly (readonly [name: string, evidence: Evidence])[] = [
    ["a look that began before the end and came after it", withEvents(polled("open", 9))],
    ["a look that began before the acknowledgement", withEvents(polled("not found", 1))],
    ["a task that its owner deletes", withEvents(cancelling, deleting, polled("not found", 12))],
    [
      "a start that was never acknowledged and never was",
      withEvents({ kind: "started", call: "c3-1", tool: "quick", owner: "ann", wire, sentAt: 1 }),
    ],
    [
      "a job that stalled and was run again",
      goodRunWith({ jobs: jobs.map((job) => ({ ...job, given: job.given + 1, stalls: 1 })) }),
    ],
    [
      "a list with a task that was taken back before anybody was told of it",
      withEvents({ kind: "listed", owner: "ann", taskIds: ["t1", "t7"] }),
    ],
    [
      "a task that is cancelled because somebody wanted it",
      {
        ...withTask({ state: "cancelled" }),
        events: [...events.filter((event) => event.kind !== "result" || event.call !== "c1-1"), cancelling],
      },
    ],
  ];
  it.each(fine)("%s", (_name, evidence) => {
    expect(findFaults(evidence)).toEqual([]);
  });
});
