import { beforeAll, describe, expect, it } from "@jest/globals";
import type { TaskRecord } from "@taskbridge/core/store";
import { answerTo } from "./orders.ts";
import { type PointOutcome, playPoints } from "./play-points.ts";
import { killPoints, type Point, stalePoints, stopPoints } from "./point.ts";

const mutant: Point = { what: "", kind: "works", at: { accepted: "StartExecution" }, mutant: "key-per-attempt" };

type Outcomes = Awaited<ReturnType<typeof playPoints>>;
let killed: Outcomes;
let stopped: Outcomes;
let stale: Outcomes;
beforeAll(async () => {
  [killed, stopped, stale] = await Promise.all([
    playPoints([...killPoints, mutant], { signal: "SIGKILL", callTimeoutMs: 10_000 }),
    // Longer than a call may take, than what a server has claimed, and than its lead in the sweep.
    playPoints(stopPoints, { signal: "SIGSTOP", callTimeoutMs: 10_000, frozenMs: 13_000 }),
    playPoints(stalePoints, { signal: "SIGSTOP", callTimeoutMs: 60_000 }),
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
  "until-reported": { ...succeeded, output: {} },
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

const toRows = (points: readonly Point[]) => points.map((point, index) => ({ point, index, what: point.what }));

describe("a server that is killed", () => {
  it.each(toRows(killPoints))(
    "at $what leaves one execution, one answer to each question and one end",
    ({ point, index }) => expectOne(outcomeOf(killed, index), point),
  );

  it("would be noticed if each attempt had a name of its own", () => {
    expect(outcomeOf(killed, killPoints.length).executions).toHaveLength(2);
  });
});

/** All but what tells how often it was written, and that a stop was confirmed, which each who has sent one may note. */
const toLasting = ({ revision, cancel, ...rest }: TaskRecord): object => {
  const { deliveredAt, ...asked } = cancel ?? {};
  return { ...rest, asked };
};

const expectNothingUndone = (outcome: PointOutcome, point: Point): void => {
  const { woken } = outcome;
  expectOne(outcome, point);
  expect(woken?.wasAwake).toBe(false);
  expect(woken?.end).toEqual(outcome.end);
  if (woken !== undefined && point.wakesAtSecond !== true)
    expect(toLasting(woken.after)).toEqual(toLasting(woken.before));
};

describe("a server that is stopped for long, and goes on when another one on its store has", () => {
  it.each(toRows(stopPoints))("at $what undoes nothing and tells the same", ({ point, index }) =>
    expectNothingUndone(outcomeOf(stopped, index), point),
  );
});

describe("a server that is stopped for a moment, in which another one on its store goes on", () => {
  it.each(toRows(stalePoints))("at $what undoes nothing and tells the same", ({ point, index }) =>
    expectNothingUndone(outcomeOf(stale, index), point),
  );
});
