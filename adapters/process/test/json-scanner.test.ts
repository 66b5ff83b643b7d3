import { describe, expect, it } from "@jest/globals";
import { jsonScanner } from "../src/json-scanner.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether the scanner takes the text as one whole value, given in pieces of this size. */
const scans = (text: string, size: number): boolean => {
  const scanner = jsonScanner();
  // A blank behind it: a number is only known to have ended by what follows.
  const bytes = Buffer.from(`${text} `);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    const taken = scanner.push(piece);
    if (taken < 0) return false;
    if (taken < piece.length)
      return (
        scanner.done &&
        bytes
          .subarray(at + taken)
          .toString()
          .trim() === ""
      );
  }
  return scanner.done;
};

const samples = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "1.5e-3",
  "12E+9",
  '""',
  '"a\\"b\\\\\\u00e9\\n"',
  '"é😀"',
  "[]",
  "{}",
  "[[],{}]",
  '{"a":[1,2,{"b":null}],"c":"d"}',
  ' [ 1 , "x" ] ',
  '{"a":{"a":{"a":[[[1]]]}}}',
  "",
  "nul",
  "nulll",
  "01",
  "1.",
  ".5",
  "-",
  "+1",
  "1e",
  "'a'",
  '"a',
  '"\\x"',
  '"\\u00g0"',
  '"a\tb"',
  "[1,]",
  "[,1]",
  "[1 2]",
  "{a:1}",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{"a":1 "b":2}',
  '{"a":1]',
  "[1}",
  "]",
  "}",
  "[1]]",
  "1 2",
  '{"a":1}x',
  "NaN",
  "\u00a01",
];

describe("the JSON scanner", () => {
  it.each(samples)("agrees with JSON.parse on %j, however it is cut", (text) => {
    for (const size of [1, 2, 3, 1000]) expect([size, scans(text, size)]).toEqual([size, isJson(text)]);
  });

  it("agrees with JSON.parse on every text with one character changed", () => {
    const text = '{"a":[1.5,-2e3,"x\\n\\u00e9"],"b":{"c":null,"d":[true,false]}}';
    for (let at = 0; at < text.length; at++) {
      for (const change of ["", " ", '"', "\\", "{", "]", ",", ":", "0", "e", "-", "\n"]) {
        const changed = text.slice(0, at) + change + text.slice(at + 1);
        expect([changed, scans(changed, 7)]).toEqual([changed, isJson(changed)]);
      }
    }
  });
});
