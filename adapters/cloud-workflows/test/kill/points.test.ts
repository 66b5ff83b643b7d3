import { beforeAll, describe, expect, it } from "@jest/globals";
import type { TaskRecord } from "@taskbridge/core/store";
import { answerTo } from "./orders.ts";
import { type PointOutcome, playPoints } from "./play-points.ts";
import { killPoints, type Point, stopPoints } from "./point.ts";

const mutant: Point = { what: "", kind: "works", at: { accepted: "createExecution" }, mutant: "sent-again" };

type Outcomes = Awaited<ReturnType<typeof playPoints>>;
let killed: Outcomes;
let stopped: Outcomes;
beforeAll(async () => {
  [killed, stopped] = await Promise.all([
    playPoints([...killPoints, mutant], "SIGKILL"),
    playPoints(stopPoints, "SIGSTOP"),
  ]);
}, 240_000);

const outcomeOf = (outcomes: Outcomes, index: number): PointOutcome => {
  const outcome = outcomes[index];
  if (outcome?.status === "fulfilled") return outcome.value;
  throw outcome?.reason;
};

const answered = { first: answerTo(7, "first"), second: answerTo(7, "second") };
const succeeded = { task: "completed", state: "succeeded", execution: "SUCCEEDED" } as const;
const wanted = {
  works: { ...succeeded, output: {} },
  asks: { ...succeeded, output: answered },
  endless: { task: "cancelled", state: "cancelled", execution: "CANCELLED", output: undefined },
} as const;

/** Nothing was started, or only what was then stopped; the task says that nobody knows. */
const expectUnknown = ({ record, executions, end }: PointOutcome): void => {
  expect(record).toMatchObject({ state: "failed", slotHeld: false, effects: [] });
  expect(record.message).toMatch(/^start outcome unknown/);
  expect(executions.filter(({ state }) => state !== "CANCELLED")).toEqual([]);
  expect(executions.length).toBeLessThanOrEqual(1);
  expect(end.status).toBe("failed");
};

/** One execution with the record's key, one answer to each question, and one end, which all tell alike. */
const expectOne = ({ record, executions, accepted, asked, end }: PointOutcome, { kind }: Point): void => {
  const { task, state, execution, output } = wanted[kind];
  const text = output === undefined ? undefined : JSON.stringify(output);
  const seen = executions.map((one) => [
    one.labels.mcp_run,
    one.state,
    one.ending && "result" in one.ending ? one.ending.result : undefined,
  ]);
  expect(seen).toEqual([[record.startKey, execution, text]]);
  const steps = kind === "asks" ? ["first", "second"] : [];
  expect([...asked].map(([name, keys]) => [name, keys.size])).toEqual(steps.map((name) => [name, 1]));
  expect(accepted.answers).toBe(steps.length);
  expect(accepted.cancels > 0).toBe(kind === "endless");
  expect(record).toMatchObject({ state, slotHeld: false, effects: [] });
  expect(record.message ?? "").not.toMatch(/could not|refused|unknown|lost/);
  expect(end).toEqual({ status: task, text });
};

const expectEnd = (outcome: PointOutcome, point: Point): void =>
  point.end === "unknown" ? expectUnknown(outcome) : expectOne(outcome, point);

/** All but what tells how often it was written, and, where its start is unknown, how often and until when that was looked for. */
const toLasting = ({ revision: _revision, minted, start, ...rest }: TaskRecord, { end }: Point): object =>
  end === "unknown" ? rest : { ...rest, minted, start };

describe("a server that is killed", () => {
  it.each(killPoints.map((point, index) => ({ point, index, what: point.what })))(
    "at $what leaves one execution at most, one answer to each question and one end",
    ({ point, index }) => expectEnd(outcomeOf(killed, index), point),
  );

  it("would be noticed if a start were sent again", () => {
    expect(outcomeOf(killed, killPoints.length).executions.length).toBeGreaterThan(1);
  });
});

describe("a server that is stopped, and goes on when another one on its store has", () => {
  it.each(stopPoints.map((point, index) => ({ point, index, what: point.what })))(
    "at $what undoes nothing and tells the same",
    ({ point, index }) => {
      const outcome = outcomeOf(stopped, index);
      expectEnd(outcome, point);
      expect(outcome.woken?.wasAwake).toBe(false);
      expect(outcome.woken?.end).toEqual(outcome.end);
      const { woken } = outcome;
      if (woken !== undefined) expect(toLasting(woken.after, point)).toEqual(toLasting(woken.before, point));
    },
  );
});
