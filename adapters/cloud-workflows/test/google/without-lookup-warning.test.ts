import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { withoutLookupWarning } from "../../src/google/without-lookup-warning.ts";

const reported: unknown[] = [];
const own = process.emitWarning;
const note = (warning: unknown): void => {
  reported.push(warning);
};
beforeEach(() => {
  reported.length = 0;
  process.emitWarning = note;
});
afterEach(() => {
  process.emitWarning = own;
});

const warn = async (): Promise<void> => {
  process.emitWarning("no metadata server", "MetadataLookupWarning");
  process.emitWarning("another", "DeprecationWarning");
  process.emitWarning("without a type");
};

test("leaves out the one warning, and only as long as somebody looks", async () => {
  let endFirst = (): void => {};
  const first = withoutLookupWarning(
    () =>
      new Promise<void>((resolve) => {
        endFirst = resolve;
      }),
  );
  await withoutLookupWarning(warn);
  await warn();
  expect(reported).toEqual(["another", "without a type", "another", "without a type"]);
  endFirst();
  await first;
  expect(process.emitWarning).toBe(note);
});

test("is over when the look fails, and leaves what others have put in place", async () => {
  const others = (): void => {};
  await expect(withoutLookupWarning(() => Promise.reject(new Error("no credentials")))).rejects.toThrow(
    "no credentials",
  );
  expect(process.emitWarning).toBe(note);
  await withoutLookupWarning(async () => {
    process.emitWarning = others;
  });
  expect(process.emitWarning).toBe(others);
});
