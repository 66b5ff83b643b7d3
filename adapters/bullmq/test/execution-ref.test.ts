import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { asExecutionRef, type ExecutionRef } from "@taskbridge/core/adapter";
import { type JobPlace, parseJobKey, parseRef, toRef } from "../src/execution-ref.ts";

const known: readonly { readonly ref: ExecutionRef; readonly place: JobPlace }[] = JSON.parse(
  readFileSync(new URL("./fixtures/refs.json", import.meta.url), "utf8"),
);

it.each(known)("understands $ref for ever, and writes it to the letter", ({ ref, place }) => {
  expect(parseRef(ref)).toEqual(place);
  expect(toRef(place)).toBe(ref);
});

it.each([
  "",
  "x",
  "{}",
  "[]",
  "null",
  '{"v":2,"prefix":"a","queue":"b","id":"c"}',
  '{"v":1,"prefix":"a","queue":"","id":"c"}',
])("refuses %j", (ref) => {
  expect(() => parseRef(asExecutionRef(ref))).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

it.each([
  ["bull:reports:7", "bull", { prefix: "bull", queue: "reports", id: "7" }],
  ["bull:reports:a:b:c", "bull", { prefix: "bull", queue: "reports", id: "a:b:c" }],
  ["{a}:b:reports:7", "{a}:b", { prefix: "{a}:b", queue: "reports", id: "7" }],
  ["{a}:b:reports:a:b:c", "{a}:b", { prefix: "{a}:b", queue: "reports", id: "a:b:c" }],
  ["{a}:b:reports:7", "bull", { prefix: "{a}:b", queue: "reports", id: "7" }],
  ["bull:b:reports:7", "bull", { prefix: "bull:b", queue: "reports", id: "7" }],
  ["reports:7", "bull", undefined],
])("reads the job key %s of a child whose parent has the prefix %s", (key, prefix, place) => {
  expect(parseJobKey(key, prefix)).toEqual(place);
});
