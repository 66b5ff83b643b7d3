import { describe, expect, it } from "@jest/globals";
import { type EndFacts, toEnd } from "../src/to-end.ts";

const facts: EndFacts = {
  exitCode: 0,
  signal: null,
  stopped: undefined,
  reported: undefined,
  stderrTail: "",
  output: { kind: "json", bytes: 2 },
  missing: undefined,
};
const reported = { kind: "protocol", reason: "not as a call" } as const;

describe("how a command that has ended counts", () => {
  it.each<[string, Partial<EndFacts>, unknown]>([
    ["exit 0", {}, { status: "succeeded", output: facts.output }],
    ["exit 2", { exitCode: 2 }, { status: "failed", failure: { kind: "job", reason: "exit code 2", code: "2" } }],
    [
      "exit 2 with words",
      { exitCode: 2, stderrTail: "opening\nno such file\n" },
      {
        status: "failed",
        failure: { kind: "job", reason: "exit code 2: no such file", code: "2", detail: "opening\nno such file\n" },
      },
    ],
    [
      "a signal nobody asked for",
      { exitCode: null, signal: "SIGKILL" },
      { status: "failed", failure: { kind: "job", reason: "killed by SIGKILL", code: "SIGKILL" } },
    ],
    [
      "a stop",
      { exitCode: null, signal: "SIGTERM", stopped: "enough" },
      { status: "cancelled", failure: { kind: "job", reason: "cancelled: enough" } },
    ],
    [
      "a stop that was obeyed with exit 0",
      { stopped: "enough" },
      { status: "cancelled", failure: { kind: "job", reason: "cancelled: enough" } },
    ],
    ["a failure it reported, at exit 0", { reported }, { status: "failed", failure: reported }],
    ["a failure it reported, at exit 1", { exitCode: 1, reported }, { status: "failed", failure: reported }],
    [
      "an output that was lost",
      { missing: "ENOSPC" },
      { status: "failed", failure: { kind: "protocol", reason: "ENOSPC", code: "output_lost" } },
    ],
  ])("%s", (_, change, end) => {
    expect(toEnd({ ...facts, ...change })).toEqual(end);
  });
});

describe("the reason of a Node job that ended by an error nobody caught", () => {
  const stack = "    at file:///job.mjs:1:7\n    at async main (node:internal/main:1:2)";
  const code = 'file:///job.mjs:1\nthrow new Error("boom");\n      ^\n\n';
  const version = "\n\nNode.js v20.20.2\n";
  it.each([
    ["an error", `opening\n${code}Error: boom\n${stack}${version}`, "Error: boom"],
    ["one of several lines", `${code}Error: boom\nand more\n${stack}${version}`, "Error: boom"],
    [
      "one with a cause",
      `${code}Error: boom\n${stack} {\n  [cause]: Error: inner\n      at x:1:2\n}${version}`,
      "Error: boom",
    ],
    [
      "one without a stack",
      `${code}[Error: ENOENT: no such file] {\n  errno: -2\n}${version}`,
      "[Error: ENOENT: no such file]",
    ],
    ["one whose code is not shown", `Error: boom\n${stack}${version}`, "Error: boom"],
    ["nothing but the version", `${version}`, undefined],
    ["a word about Node that is not the last", "Node.js v20 is too old\nfailed\n", "failed"],
  ])("%s", (_, stderrTail, line) => {
    expect(toEnd({ ...facts, exitCode: 1, stderrTail }).failure?.reason).toBe(
      line === undefined ? "exit code 1" : `exit code 1: ${line}`,
    );
  });
});
