import { expect, test } from "@jest/globals";
import type { AuditEvent } from "@taskbridge/core";
import { pino } from "pino";
import { auditLog } from "../../src/terminal/audit-log.ts";

const logged = (events: readonly AuditEvent[]): unknown[] => {
  const lines: string[] = [];
  const log = auditLog(pino({ base: null, timestamp: false, level: "debug" }, { write: (line) => lines.push(line) }));
  for (const event of events) log(event);
  return lines.map((line) => {
    const { level, at, msg } = JSON.parse(line) as Record<string, unknown>;
    return [at, pino.levels.labels[Number(level)], msg];
  });
};

test("a backend that is away is warned of once for each reason, and again after ten minutes", () => {
  const unavailable = { kind: "watch_ended", adapterId: "queue", message: "it does not answer" } as const;
  expect(
    logged([
      { ...unavailable, at: 0 },
      { ...unavailable, at: 500 },
      { ...unavailable, at: 600, adapterId: "other" },
      { ...unavailable, at: 700, message: "the password is wrong" },
      { ...unavailable, at: 599_999 },
      { ...unavailable, at: 600_000 },
    ]),
  ).toEqual([
    [0, "warn", "it does not answer"],
    [500, "debug", "it does not answer"],
    [600, "warn", "it does not answer"],
    [700, "warn", "the password is wrong"],
    [599_999, "debug", "it does not answer"],
    [600_000, "warn", "it does not answer"],
  ]);
});

test("a store that is away is warned of once, whichever tasks miss it", () => {
  const unavailable = { kind: "internal_error", message: "10.1.2.3:6379 does not answer" } as const;
  expect(
    logged([
      { ...unavailable, at: 0, taskId: "a" },
      { ...unavailable, at: 1, taskId: "b" },
      { ...unavailable, at: 2, taskId: "b", message: "cannot read x of undefined" },
      { ...unavailable, at: 600_000, taskId: "a" },
    ]),
  ).toEqual([
    [0, "warn", "10.1.2.3:6379 does not answer"],
    [1, "debug", "10.1.2.3:6379 does not answer"],
    [2, "warn", "cannot read x of undefined"],
    [600_000, "warn", "10.1.2.3:6379 does not answer"],
  ]);
});

test("what is about one task is told each time", () => {
  const failed = { kind: "effect_failed", adapterId: "queue", taskId: "t", message: "no" } as const;
  const created = { kind: "task_created", taskId: "t" } as const;
  expect(
    logged([
      { ...failed, at: 0 },
      { ...failed, at: 1 },
      { ...created, at: 2 },
      { ...created, at: 3 },
    ]),
  ).toEqual([
    [0, "warn", "no"],
    [1, "warn", "no"],
    [2, "info", "task_created"],
    [3, "info", "task_created"],
  ]);
});
