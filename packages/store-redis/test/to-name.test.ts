import { expect, it } from "@jest/globals";
import { fromName, toName } from "../src/to-name.ts";

it("a name is the text itself wherever Redis can keep it", () => {
  for (const text of ["", "owner:alice", "a\u0000b", "\ufffd", "\ud83d\ude42"]) expect(toName(text)).toBe(text);
});

it("names of different texts stay different as UTF-8, and can be read back", () => {
  const odd = ["\ud800", "\ud801", "\udc00\ud800", "a\ud83d", "\ufffd", "utf16:", toName("\ud800")];
  const names = odd.map((text) => Buffer.from(toName(text)).toString());
  expect(new Set(names).size).toBe(odd.length);
  expect(names.map(fromName)).toEqual(odd);
});
