import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { asExecutionRef, type ExecutionRef } from "@taskbridge/core/adapter";
import { type JobPlace, parseJobKeys, parseRef, toRef } from "../src/execution-ref.ts";

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
  ["bull:reports:7", "bull", ["bull reports 7"]],
  ["bull:reports:a:b:c", "bull", ["bull reports a:b:c", "bull:reports:a b c"]],
  ["{a}:b:reports:7", "{a}:b", ["{a}:b reports 7"]],
  ["{a}:b:reports:a:b:c", "{a}:b", ["{a}:b reports a:b:c", "{a}:b:reports:a b c"]],
  ["{a}:b:reports:7", "bull", ["{a}:b reports 7"]],
  ["other:reports:a:b:c", "bull", ["other:reports:a b c", "other reports a:b:c"]],
  ["bull:b:reports:7", "bull", ["bull:b reports 7"]],
  ["other:reports::7", "bull", []],
  ["reports:7", "bull", []],
])("reads the job key %s of a child whose parent has the prefix %s", (key, prefix, places) => {
  expect(parseJobKeys(key, prefix).map((place) => `${place.prefix} ${place.queue} ${place.id}`)).toEqual(places);
});
