import { beforeAll, describe, expect, it } from "@jest/globals";
import { answerTo } from "./orders.ts";
import { type PointOutcome, playPoints } from "./play-points.ts";
import { killPoints, type Point, stopPoints } from "./point.ts";

const mutant: Point = { what: "", kind: "works", at: { accepted: "StartExecution" }, mutant: "key-per-attempt" };

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

const answered = { First: answerTo(7, "First"), Second: answerTo(7, "Second") };
const succeeded = { task: "completed", state: "succeeded", status: "SUCCEEDED" } as const;
const wanted = {
  works: { ...succeeded, output: {} },
  "until-told": { ...succeeded, output: {} },
  asks: { ...succeeded, output: answered },
  endless: { task: "cancelled", state: "cancelled", status: "ABORTED", output: undefined },
} as const;

/** One execution of the record's name, one answer to each question, and one end, which all tell alike. */
const expectOne = ({ record, executions, accepted, asked, end }: PointOutcome, { kind }: Point): void => {
  const { task, state, status, output } = wanted[kind];
  const text = output === undefined ? undefined : JSON.stringify(output);
  expect(executions.map((one) => [one.name, one.status, one.output])).toEqual([[record.startKey, status, text]]);
  const states = kind === "asks" ? ["First", "Second"] : [];
  expect([...asked].map(([name, keys]) => [name, keys.size])).toEqual(states.map((name) => [name, 1]));
  expect(accepted.answers).toBe(states.length);
  expect(accepted.stops > 0).toBe(kind === "endless");
  expect(record).toMatchObject({ state, slotHeld: false, effects: [] });
  expect(record.message ?? "").not.toMatch(/could not|refused|unknown|lost/);
  expect(end).toEqual({ status: task, text });
};

describe("a server that is killed", () => {
  it.each(killPoints.map((point, index) => ({ point, index, what: point.what })))(
    "at $what leaves one execution, one answer to each question and one end",
    ({ point, index }) => expectOne(outcomeOf(killed, index), point),
  );

  it("would be noticed if each attempt had a name of its own", () => {
    expect(outcomeOf(killed, killPoints.length).executions).toHaveLength(2);
  });
});

describe("a server that is stopped, and goes on when another one on its store has", () => {
  it.each(stopPoints.map((point, index) => ({ point, index, what: point.what })))(
    "at $what undoes nothing and tells the same",
    ({ point, index }) => {
      const outcome = outcomeOf(stopped, index);
      expectOne(outcome, point);
      expect(outcome.woken?.wasAwake).toBe(false);
      expect(outcome.woken?.end).toEqual(outcome.end);
      if (point.wakesAtSecond === true) return;
      const { revision: _before, ...before } = outcome.woken?.before ?? {};
      const { revision: _after, ...after } = outcome.woken?.after ?? {};
      expect(after).toEqual(before);
    },
  );
});
