import { execFileSync } from "node:child_process";
import { describe, expect, test } from "@jest/globals";
import { formatInstant, formatTask } from "../../src/terminal/format-task.ts";
import { safeText } from "../../src/terminal/safe-text.ts";
import { shownId, taskCommand } from "../../src/terminal/task-command.ts";

const flags = "--url http://127.0.0.1/mcp";

/** What a program gets when the command is pasted. */
const pasted = (command: string): string[] => {
  const script = `taskbridge() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8", env: { ...process.env, LC_ALL: "C.UTF-8" } })
    .split("\0")
    .slice(0, -1);
};

describe("a command about a task, pasted, is about that task", () => {
  test.each(["t-1", "x;touch${IFS}/nowhere/PWNED;#", "it's", "a b", "T\u001b]0;pwned\u0007", "a\nb", "a\\'\u202eb"])(
    "%j",
    (taskId) => {
      const command = taskCommand("watch", taskId, flags);
      expect(pasted(command)).toEqual(["tasks", "watch", taskId, "--url", "http://127.0.0.1/mcp"]);
      expect(command).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    },
  );

  test.each(["-x9", "--help", "-rf"])("%s is no option", (taskId) => {
    expect(pasted(taskCommand("answer", taskId, flags))).toEqual([
      "tasks",
      "answer",
      "--url",
      "http://127.0.0.1/mcp",
      "--",
      taskId,
    ]);
  });
});

test("an ID is shown on one line, and does nothing to a terminal", () => {
  expect(shownId("T\u001b[2J\nSTATE succeeded")).toBe("T\u{FFFD}[2J\u{FFFD}STATE\u{FFFD}succeeded");
  const shown = formatTask({ taskId: "T\u001b[2J\nb", state: "running", questions: [] }, flags);
  expect(shown.split("\n")).toEqual(["task       T\u{FFFD}[2J\u{FFFD}b", "state      running"]);
});

test("text cannot turn its own direction", () => {
  expect(safeText("a\u202egnp.exe\u2028b")).toBe("a\u{FFFD}gnp.exe\u{FFFD}b");
  expect(safeText("семья 👨‍👩‍👧 café")).toBe("семья 👨‍👩‍👧 café");
});

test("an instant beyond all days is not told", () => {
  expect(formatInstant(1e300)).toBeUndefined();
  expect(formatInstant(0)).toBe("1970-01-01T00:00:00.000Z");
});
