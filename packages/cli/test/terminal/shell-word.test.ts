import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { shellWord } from "../../src/terminal/shell-word.ts";
import { taskCommand } from "../../src/terminal/task-command.ts";

const hostile = [
  "plain-1.2:3~x",
  "-rf",
  "",
  "x;touch${IFS}/tmp/pwned;#",
  "a'b\"c`d`$(e)!",
  "a\nSTATE succeeded",
  "T\u001b]0;pwned\u0007\u001b[2J",
  "\u202Egnp.exe\u200B\u2028",
  "it's \\ and é and 👩‍👩‍👧",
  "~root",
  "=ls",
];

test.each(hostile)("%j is one word for a shell, and nothing for a terminal", (text) => {
  const word = shellWord(text);
  expect(word).toMatch(/^[ -~]+$/);
  expect(execFileSync("bash", ["-c", `printf %s ${word}`]).toString()).toBe(text);
});

test("what needs no quotes has none", () => {
  expect(shellWord("http://127.0.0.1:3000/mcp")).toBe("http://127.0.0.1:3000/mcp");
  expect(shellWord("c3b378376d902ffc2b5ca286af58347a~again1")).toBe("c3b378376d902ffc2b5ca286af58347a~again1");
  expect(shellWord("a b")).toBe("'a b'");
});

test("an ID that begins with a dash stands where it is no flag", () => {
  expect(taskCommand("watch", "T1", "--url U")).toBe("taskbridge tasks watch T1 --url U");
  expect(taskCommand("answer", "-x9", "--url U")).toBe("taskbridge tasks answer --url U -- -x9");
});
