import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { consoleUrlOf, executionArnOf, parseExecutionArn, parseRef, toRef } from "../../src/mapping/execution-arn.ts";
import { toReason } from "../../src/mapping/to-reason.ts";
import { toSnapshot } from "../../src/mapping/to-snapshot.ts";

const readFixture = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8"));

interface Described {
  readonly name: string;
  readonly details: { readonly status: string };
  readonly snapshot: object;
}

interface Caused {
  readonly name: string;
  readonly error: string;
  readonly cause: string;
  readonly reported: object;
}

const descriptions: readonly Described[] = readFixture("descriptions.json");
const causes: readonly Caused[] = readFixture("causes.json");

const arn = "arn:aws:states:eu-west-1:111122223333:execution:orders:mcp-1";
const startedAt = Date.UTC(2026, 0, 1);
const url = `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${arn}`;

it.each(descriptions)("tells $name", ({ details, snapshot }) => {
  expect(toSnapshot({ arn, startedAt, ...details })).toEqual({ url, startedAt, ...snapshot });
});

it("does not guess what a new status means", () => {
  expect(toSnapshot({ arn, startedAt, status: "PAUSED" })).toBeUndefined();
  expect(toSnapshot({ arn, startedAt, status: "constructor" })).toBeUndefined();
});

it("leaves an output above the inline limit to be read, and takes what is no JSON as text", () => {
  const output = JSON.stringify("x".repeat(65_536));
  const reported = { arn, startedAt, status: "SUCCEEDED" };
  expect(toSnapshot({ ...reported, output })?.output).toEqual({
    kind: "stream",
    bytes: 65_538,
    mediaType: "application/json",
  });
  expect(toSnapshot({ ...reported, output: "not JSON" })?.output).toEqual({ kind: "text", text: "not JSON" });
});

describe("an output", () => {
  const outputOf = (output: string) => toSnapshot({ arn, startedAt, status: "SUCCEEDED", output })?.output;

  it.each([
    '{"id":12345678901234567890}',
    "[-9007199254740993]",
    '{"at":1e999}',
    '{"sum":12345678901234567.89}',
    '{"1":1234567890123456789e3}',
    '{"sum":12345678901234.5678}',
    "3.14159265358979323846",
    '["\\"",-0.0]',
    "1e-400",
  ])("whose numbers would be changed is fetched as it is: %s", (output) => {
    expect(outputOf(output)).toEqual({ kind: "stream", bytes: output.length, mediaType: "application/json" });
  });

  it.each([
    "9007199254740991",
    "1e21",
    "1.50e+20",
    "-100000000000000000000000",
    "0.1",
    "-1.10E-7",
    "[0.00,0e9,5e-324]",
    '"12345678901234567890"',
    '{"12345678901234567890":"\\"9007199254740993"}',
  ])("that loses nothing is JSON: %s", (output) => {
    expect(outputOf(output)).toEqual({ kind: "json", value: JSON.parse(output) });
  });

  it("that is nested deeper than can be written again is a text", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(outputOf(nested(500))).toMatchObject({ kind: "json" });
    expect(outputOf(nested(20_000))).toEqual({ kind: "text", text: nested(20_000) });
    expect(outputOf(nested(100_000))).toEqual({ kind: "stream", bytes: 200_000, mediaType: "text/plain" });
  });

  it.each([
    ["text", JSON.stringify('"\\'.repeat(60_000)), "application/json"],
    ["text that does not end", `"${'\\"'.repeat(60_000)}`, "text/plain"],
    ["number", `1${"0".repeat(120_000)}1`, "application/json"],
  ])("of one long %s is read in no time", (_name, output, mediaType) => {
    const began = performance.now();
    expect(outputOf(output)).toMatchObject({ mediaType });
    // What grows with the square takes half a minute.
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

it("keeps what steers a terminal, and half a character, out of what is read", () => {
  const failed = { arn, startedAt, status: "FAILED", error: "E\u001b[2J\n", cause: `${"x".repeat(499)}\u{1f600}` };
  expect(toSnapshot(failed)?.failure).toEqual({
    kind: "job",
    code: "E [2J",
    reason: `E [2J: ${"x".repeat(499)}`,
  });
});

it.each(causes)("reads a cause: $name", ({ error, cause, reported }) => {
  expect(toReason(error, cause)).toEqual(reported);
});

it("goes no deeper into causes than any machine does", () => {
  let cause = "bottom";
  for (let depth = 0; depth < 12; depth++) cause = JSON.stringify({ Error: `E${depth}`, Cause: cause });
  expect(toReason("E", cause).reason.length).toBeLessThan(600);
});

it("finds an execution by the machine's ARN and a name, and takes it apart again", () => {
  const machineArn = "arn:aws-us-gov:states:us-gov-west-1:111122223333:stateMachine:orders";
  const execution = executionArnOf(machineArn, "mcp-1");
  expect(parseExecutionArn(execution)).toMatchObject({ machineArn, name: "mcp-1", region: "us-gov-west-1" });
  expect(parseRef(toRef(execution)).arn).toBe(execution);
  expect(consoleUrlOf(execution)).toContain("https://us-gov-west-1.console.amazonaws-us-gov.com/states/");
  expect(parseExecutionArn("arn:aws:states:eu-west-1:111122223333:express:orders:mcp-1:uuid")).toBeUndefined();
});
