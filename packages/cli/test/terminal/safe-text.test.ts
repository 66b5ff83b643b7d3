import { expect, test } from "@jest/globals";
import { formatDocument } from "../../src/terminal/format-task.ts";
import { safeLine, safeText } from "../../src/terminal/safe-text.ts";

const tag = String.fromCodePoint(0xe0041);

test.each([
  ["escapes", "a\u001b[31m\u0007\u009b", "a�[31m��"],
  ["what turns text around", "a\u202Egnp.exe\u2066b\u200Fc\u061C", "a�gnp.exe�b�c�"],
  ["what has no width", `a\u200Bb\uFEFFc\u2060d\u00ADe${tag}`, "a�b�c�d�e�"],
  ["other line ends", "a\u2028b\u2029c\u0085d\re", "a�b�c�d�e"],
])("%s do not reach a terminal", (_name, text, shown) => {
  expect(safeText(text)).toBe(shown);
});

test("line breaks, tabs, scripts and emoji do", () => {
  const text = "a\tb\r\nc می‌خواهم 👩‍👩‍👧 ❤️ שלום";
  expect(safeText(text)).toBe(text.replace("\r\n", "\n"));
});

test("one line stays one", () => {
  expect(safeLine("done\n\n  STATE\tsucceeded\n")).toBe("done STATE succeeded");
});

test("a document has escapes for them, and means the same", () => {
  const document = { text: `\u202E\u200B\u2028\u001b\n${tag} é 👩‍👩‍👧` };
  const json = formatDocument(document);
  expect(json).toContain("\\u202e\\u200b\\u2028\\u001b\\n\\udb40\\udc41 é 👩‍👩‍👧");
  expect(JSON.parse(json)).toEqual(document);
});
