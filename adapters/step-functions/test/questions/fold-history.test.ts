import { expect, it } from "@jest/globals";
import type { HistoryEvent } from "../../src/aws/client.ts";
import { foldHistory, type HistoryFold } from "../../src/questions/fold-history.ts";

type Line = readonly [id: number, previousId: number, type: string, more?: Partial<HistoryEvent>];

const toEvents = (lines: readonly Line[]): readonly HistoryEvent[] =>
  lines.map(([id, previousId, type, more]) => ({ id, previousId, type, at: 1_000 * id, ...more }));

const asks = { task: { resource: "sendMessage.waitForTaskToken", parameters: '{"token":"t"}' } };

const open = (fold: HistoryFold) => fold.callbacks.map(({ id, state }) => [id, state]);

const fold = (...lines: readonly Line[]): HistoryFold => {
  const deduplicated = foldHistory();
  deduplicated.apply(toEvents(lines));
  return deduplicated;
};

const approval: readonly Line[] = [
  [1, 0, "ExecutionStarted"],
  [2, 0, "PassStateEntered", { state: "Prepare" }],
  [3, 2, "PassStateExited", { state: "Prepare" }],
  [4, 3, "TaskStateEntered", { state: "Approve" }],
  [5, 4, "TaskScheduled", asks],
  [6, 5, "TaskStarted"],
  [7, 6, "TaskSubmitted"],
];

it("sees a task that waits for its token, and how far the states have come", () => {
  const deduplicated = fold(...approval);
  expect(open(deduplicated)).toEqual([[5, "Approve"]]);
  expect(deduplicated).toMatchObject({
    lastId: 7,
    statesDone: 1,
    state: "Approve",
    map: undefined,
    mapRunArn: undefined,
  });
});

it("sees one that was only just scheduled", () => {
  const scheduled = fold(...approval.slice(0, 5));
  expect(open(scheduled)).toEqual([[5, "Approve"]]);
  expect([scheduled, fold(...approval)].map(({ callbacks }) => callbacks[0]?.isSubmitted)).toEqual([false, true]);
});

it.each(["TaskSucceeded", "TaskFailed", "TaskTimedOut", "TaskStateAborted", "SomethingNew"])("%s closes it", (type) => {
  expect(open(fold(...approval, [8, 7, type]))).toEqual([]);
});

it.each(["ExecutionAborted", "ExecutionFailed", "ExecutionTimedOut", "ExecutionSucceeded", "ExecutionRedriven"])(
  "%s closes all",
  (type) => {
    expect(open(fold(...approval, [8, 0, type]))).toEqual([]);
  },
);

it("takes what a retry or a redrive schedules for another question of the same state", () => {
  const retried = fold(...approval, [8, 7, "TaskFailed"], [9, 8, "TaskScheduled", asks], [10, 9, "TaskStarted"]);
  expect(open(retried)).toEqual([[9, "Approve"]]);
  const redriven = fold(
    ...approval,
    [8, 0, "ExecutionAborted"],
    [9, 8, "ExecutionRedriven"],
    [10, 4, "TaskScheduled", asks],
  );
  expect(open(redriven)).toEqual([[10, "Approve"]]);
});

it("keeps branches apart that are mixed in the history", () => {
  const branches: readonly Line[] = [
    [1, 0, "ExecutionStarted"],
    [2, 0, "ParallelStateEntered", { state: "Both" }],
    [3, 2, "ParallelStateStarted"],
    [4, 3, "TaskStateEntered", { state: "Law" }],
    [5, 3, "TaskStateEntered", { state: "Money" }],
    [6, 4, "TaskScheduled", asks],
    [7, 5, "TaskScheduled", asks],
    [8, 6, "TaskStarted"],
    [9, 7, "TaskStarted"],
    [10, 8, "TaskSubmitted"],
    [11, 9, "TaskSubmitted"],
  ];
  expect(open(fold(...branches))).toEqual([
    [6, "Law"],
    [7, "Money"],
  ]);
  expect(open(fold(...branches, [12, 10, "TaskSucceeded"]))).toEqual([[7, "Money"]]);
});

it("is the same for events in any order and for those that come again", () => {
  const deduplicated = foldHistory();
  deduplicated.apply(toEvents([...approval].reverse()));
  deduplicated.apply(toEvents(approval));
  expect(open(deduplicated)).toEqual([[5, "Approve"]]);
  expect(deduplicated.statesDone).toBe(1);
  deduplicated.apply(toEvents([[8, 7, "TaskSucceeded"]]));
  expect(open(deduplicated)).toEqual([]);
});

it("counts the items of a Map, of the inner one while it goes on", () => {
  const outer: readonly Line[] = [
    [1, 0, "ExecutionStarted"],
    [2, 0, "MapStateEntered", { state: "Orders" }],
    [3, 2, "MapStateStarted", { length: 4 }],
    [4, 3, "MapIterationStarted", { state: "Orders" }],
    [5, 4, "PassStateEntered", { state: "Pack" }],
    [6, 5, "PassStateExited", { state: "Pack" }],
    [7, 6, "MapIterationSucceeded", { state: "Orders" }],
    [8, 6, "MapIterationFailed", { state: "Orders" }],
  ];
  expect(fold(...outer).map).toEqual({ state: "Orders", done: 2, total: 4 });
  const inner: readonly Line[] = [
    [9, 4, "MapStateEntered", { state: "Lines" }],
    [10, 9, "MapStateStarted", { length: 9 }],
    [11, 10, "MapIterationStarted", { state: "Lines" }],
    [12, 11, "MapIterationSucceeded", { state: "Lines" }],
  ];
  expect(fold(...outer, ...inner).map).toEqual({ state: "Lines", done: 1, total: 9 });
  const left = fold(...outer, ...inner, [13, 12, "MapStateSucceeded"], [14, 13, "MapStateExited", { state: "Lines" }]);
  expect(left.map).toEqual({ state: "Orders", done: 2, total: 4 });
});

it("knows the distributed Map that goes on", () => {
  const begun: readonly Line[] = [
    [1, 0, "ExecutionStarted"],
    [2, 0, "MapStateEntered", { state: "Files" }],
    [3, 2, "MapStateStarted"],
    [4, 3, "MapRunStarted", { mapRunArn: "arn:map" }],
  ];
  expect(fold(...begun).mapRunArn).toBe("arn:map");
  expect(fold(...begun, [5, 4, "MapRunSucceeded"]).mapRunArn).toBeUndefined();
});
