import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  defaultRangeBytes,
  formatResultUri,
  maxRangeBytes,
  parseResultUri,
  rangeToFetch,
  toTextRange,
} from "../src/result-uri.ts";

/** What a reader gets who asks for one address. */
const read = (all: Uint8Array, uri: string) => {
  const address = parseResultUri(uri);
  if (address === undefined) throw new Error(`no address: ${uri}`);
  const { offset, length } = rangeToFetch(address);
  return toTextRange(address, all.subarray(offset, offset + length), all.length);
};

describe("addresses", () => {
  test.each([
    ["taskbridge://tasks/t-1/result", { taskId: "t-1", offset: 0, length: defaultRangeBytes }],
    ["taskbridge://tasks/t-1/result?offset=5&length=10", { taskId: "t-1", offset: 5, length: 10 }],
    ["taskbridge://tasks/a%2Fb/result?offset=5", { taskId: "a/b", offset: 5, length: defaultRangeBytes }],
    ["taskbridge://tasks/t-1/result?length=99999999", { taskId: "t-1", offset: 0, length: maxRangeBytes }],
    ["taskbridge://tasks/t-1/result?length=1", { taskId: "t-1", offset: 0, length: 4 }],
    ["taskbridge://tasks//result", undefined],
    ["taskbridge://tasks/%/result", undefined],
    ["taskbridge://tasks/t-1/result/more", undefined],
    ["taskbridge://other/t-1/result", undefined],
    ["file:///etc/passwd", undefined],
    ["", undefined],
  ])("%s", (uri, address) => {
    expect(parseResultUri(uri)).toEqual(address);
  });

  test.each(["offset=-1", "offset=1.5", "length=x", "offset=1e9", "length=", "offset=99999999999999999999"])(
    "refuses %s",
    (query) => {
      expect(() => parseResultUri(`taskbridge://tasks/t/result?${query}`)).toThrow("a whole number of bytes is needed");
    },
  );

  test("what is written can be read", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.nat(),
        fc.integer({ min: 4, max: maxRangeBytes }),
        (taskId, offset, length) => {
          expect(parseResultUri(formatResultUri(taskId, { offset, length }))).toEqual({ taskId, offset, length });
        },
      ),
    );
  });
});

describe("[R-2] ranges", () => {
  test("following the next address gives the whole text, cut at characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 12 }), (text, length) => {
        const all = new TextEncoder().encode(text);
        let uri: string | undefined = formatResultUri("t", { offset: 0, length });
        let reported = "";
        while (uri !== undefined) {
          const range: ReturnType<typeof read> = read(all, uri);
          reported += range.text;
          uri = range.nextUri;
        }
        expect(reported).toBe(text);
      }),
    );
  });

  test("so do steps of the reader's own", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 4, max: 12 }), (text, step) => {
        const all = new TextEncoder().encode(text);
        let reported = "";
        for (let offset = 0; offset < all.length; offset += step) {
          reported += read(all, formatResultUri("t", { offset, length: step })).text;
        }
        expect(reported).toBe(text);
      }),
    );
  });

  test("bytes that are no text still move on", () => {
    const all = Uint8Array.from({ length: 64 }, () => 0x80);
    expect(read(all, formatResultUri("t", { offset: 8, length: 4 })).nextUri).toMatch(/offset=(9|1\d)&/);
  });
});
