import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { TaskStatus } from "../../src/task-source.ts";
import { taskDisplay } from "../../src/terminal/task-display.ts";

const status = (done: number, state: TaskStatus["state"] = "running"): TaskStatus => ({
  taskId: "t",
  state,
  progress: { done, total: 10, message: `file ${done}` },
  questions: [],
  createdAt: 0,
  updatedAt: 0,
});

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test("without a terminal: a line a second, never the last one lost, a change of state at once", () => {
  const output = new PassThrough();
  const display = taskDisplay(output);
  const lines = (): string => String(output.read() ?? "");
  display.show(status(1));
  display.show(status(2));
  display.show(status(3));
  expect(lines()).toBe("running  1/10 file 1\n");
  jest.advanceTimersByTime(1_000);
  expect(lines()).toBe("running  3/10 file 3\n");
  display.show(status(4));
  display.show(status(4, "waiting"));
  expect(lines()).toBe("waiting for an answer  4/10 file 4\n");
  display.show(status(5));
  display.show(status(6));
  display.pause();
  jest.advanceTimersByTime(5_000);
  expect(lines()).toBe("running  5/10 file 5\n");
});

test("on a terminal: a bar with numbers and the message", () => {
  const output = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo: () => true,
    moveCursor: () => true,
    clearLine: () => true,
  });
  const display = taskDisplay(output);
  display.show(status(3));
  display.show({ ...status(7), progress: { done: 7, total: 10, message: "file 7" } });
  jest.advanceTimersByTime(500);
  display.pause();
  const shown = String(output.read());
  expect(shown).toContain("3/10  file 3");
  expect(shown).toContain("7/10  file 7");
});
