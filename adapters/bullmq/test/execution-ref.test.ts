import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { asExecutionRef, type ExecutionRef } from "@taskbridge/core/adapter";
import { type JobLocation, parseJobKeys, parseRef, toRef } from "../src/execution-ref.ts";

const known: readonly { readonly ref: ExecutionRef; readonly location: JobLocation }[] = JSON.parse(
  readFileSync(new URL("./fixtures/refs.json", import.meta.url), "utf8"),
);

it.each(known)("understands $ref for ever, and writes it to the letter", ({ ref, location }) => {
  expect(parseRef(ref)).toEqual(location);
  expect(toRef(location)).toBe(ref);
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
  ["bull:reports:7", "bull", ["bull reports 7"]],
  ["bull:reports:a:b:c", "bull", ["bull reports a:b:c", "bull:reports:a b c"]],
  ["{a}:b:reports:7", "{a}:b", ["{a}:b reports 7"]],
  ["{a}:b:reports:a:b:c", "{a}:b", ["{a}:b reports a:b:c", "{a}:b:reports:a b c"]],
  ["{a}:b:reports:7", "bull", ["{a}:b reports 7"]],
  ["other:reports:a:b:c", "bull", ["other:reports:a b c", "other reports a:b:c"]],
  ["bull:b:reports:7", "bull", ["bull:b reports 7"]],
  ["other:reports::7", "bull", []],
  ["reports:7", "bull", []],
])("reads the job key %s of a child whose parent has the prefix %s", (key, prefix, locations) => {
  expect(parseJobKeys(key, prefix).map((location) => `${location.prefix} ${location.queue} ${location.id}`)).toEqual(
    locations,
  );
});
