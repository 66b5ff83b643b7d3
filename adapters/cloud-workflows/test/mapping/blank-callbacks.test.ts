import { expect, test } from "@jest/globals";
import { blankCallbacks } from "../../src/mapping/blank-callbacks.ts";

const name = "projects/p/locations/l/workflows/w/executions/e/callbacks/secret-1";
const address = `https://workflowexecutions.googleapis.com/v1/${name}`;

test.each([
  [`POST ${address} now`, "POST [callback] now"],
  [`<${address}>, "${name}"`, '<[callback]>, "[callback]"'],
  [name.replace("callbacks", "callback"), "[callback]"],
  ["executions/e/callbacks/secret-1", "[callback]"],
  [`cb=${encodeURIComponent(address)}`, "cb=[callback]"],
  [`https://x.test/?cb=${encodeURIComponent(address)}`, "[callback]"],
  [encodeURIComponent(encodeURIComponent(address)), "[callback]"],
  [address.replaceAll("/", "\\/"), "[callback]"],
  [JSON.stringify(JSON.stringify({ url: address })), String.raw`"{\"url\":\"[callback]\"}"`],
])("blanks %s", (text, blanked) => {
  expect(blankCallbacks(text)).toBe(blanked);
});

test.each([
  "callbacks/one is a folder",
  "projects/p and callbacks/c",
  "https://x.test/callbacks/c",
  "projects/p/locations/l/workflows/w/executions/e",
])("leaves %s", (text) => {
  expect(blankCallbacks(text)).toBe(text);
});

test.each([
  "http://projects/a/locations/",
  "projects/a/locations/b/callbacks",
  "http://",
  "executions\\\\\\\\",
  "%2525252525",
  "/callbacks/projects/",
])("takes no time over many of %s", (part) => {
  const started = performance.now();
  blankCallbacks(part.repeat(40_000));
  expect(performance.now() - started).toBeLessThan(1_000);
});
