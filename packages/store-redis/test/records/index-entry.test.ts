import { describe, expect, it } from "@jest/globals";
import { asTaskId } from "@taskbridge/core/store";
import { deadlineOf, newAttempt } from "../../src/records/attempt.ts";
import { newestFirst, parseEntry, toEntry, toPosition, toSortable } from "../../src/records/index-entry.ts";

describe("an entry", () => {
  it("sorts by its bytes as its time does", () => {
    const times = [-1e15, -2, -0.5, 0, 0.5, 1, 2, 1_767_225_600_000, 1_767_225_600_000.5, 1_767_225_600_001, 1e15];
    const sortable = times.map(toSortable);
    expect(sortable.toSorted()).toEqual(sortable);
    expect(new Set(sortable.map(({ length }) => length))).toEqual(new Set([16]));
  });

  it.each(["a", "a\0b", "", "日本語 🙂", "x".repeat(1000)])("gives back ID and attempt (%j)", (text) => {
    const attempt = newAttempt(1_767_225_600_000);
    const entry = toEntry({ createdAt: 5, taskId: asTaskId(text) }, attempt);
    expect(parseEntry(entry)).toEqual({ taskId: text, attempt });
  });

  it("lies after the position of its own record, and before that of a newer one", () => {
    const [a, ab] = ["a", "ab"].map((taskId) => ({ createdAt: 5, taskId: asTaskId(taskId) }));
    const later = { createdAt: 6, taskId: asTaskId("a") };
    if (a === undefined || ab === undefined) throw new Error("two were made");
    const entries = [a, ab, later].map((record) => toEntry(record, newAttempt(9)));
    expect(entries.toSorted(newestFirst)).toEqual(entries.toReversed());
    expect(newestFirst(toPosition(ab), entries[0] ?? "")).toBeLessThan(0);
    expect(newestFirst(toPosition(ab), entries[1] ?? "")).toBeGreaterThan(0);
  });

  it("orders IDs of one instant as Redis does: by their bytes", () => {
    const at = (taskId: string): string => toPosition({ createdAt: 5, taskId: asTaskId(taskId) });
    // By UTF-16 it would be the other way round.
    expect(newestFirst(at("\u{1f642}"), at("\uff5e"))).toBeLessThan(0);
  });
});

describe("an attempt", () => {
  it("tells until when it may write, and is like no other", () => {
    const attempts = Array.from({ length: 50 }, () => newAttempt(1_767_225_600_123.7));
    expect(new Set(attempts).size).toBe(50);
    expect(attempts.map(deadlineOf)).toEqual(Array(50).fill(1_767_225_600_123));
  });
});
