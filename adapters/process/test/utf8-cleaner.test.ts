import { isUtf8 } from "node:buffer";
import { describe, expect, it } from "@jest/globals";
import { utf8Cleaner } from "../src/utf8-cleaner.ts";

const clean = (bytes: Buffer, size: number): Buffer => {
  const cleaner = utf8Cleaner();
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(cleaner.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...pieces, cleaner.end()]);
};

describe("the UTF-8 cleaner", () => {
  it("leaves valid text as it is, wherever it is cut", () => {
    const text = Buffer.from("plain, é, 漢字, 😀😀, end");
    for (let size = 1; size <= text.length; size++) expect(clean(text, size)).toEqual(text);
  });

  it.each([
    [[0xff]],
    [[0x41, 0xc3]],
    [[0xe6, 0xbc]],
    [[0xc3, 0x28]],
    [[0xf0, 0x9f, 0x98, 0x41]],
    [[0x80, 0x80]],
    [[0xed, 0xa0, 0x80]],
  ])("replaces what is no UTF-8: %j", (bytes) => {
    for (const size of [1, 2, 3, 100]) {
      const cleaned = clean(Buffer.from([0x3c, ...bytes]), size);
      expect(isUtf8(cleaned)).toBe(true);
      expect(cleaned.toString()).toMatch(/^<.*\ufffd/);
    }
  });
});
