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
