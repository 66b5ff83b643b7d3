import { describe, expect, it } from "@jest/globals";
import { maxReport, reportReader } from "../src/report-reader.ts";

/** What comes out for a stream given in pieces of this size. */
const read = (stream: string | Buffer, size: number) => {
  const found = { log: "", reports: [] as string[], results: [] as string[], broken: [] as string[] };
  let result = "";
  const reader = reportReader({
    log: (bytes) => {
      found.log += bytes.toString("latin1");
    },
    report: (json) => json.includes("known") && found.reports.push(json.trimEnd()) > 0,
    beginResult: (head) => {
      result = head;
    },
    resultBytes: (bytes) => {
      result += bytes.toString("latin1");
    },
    endResult: (whole) => {
      (whole ? found.results : found.broken).push(result);
    },
  });
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  reader.end();
  return {
    ...found,
    log: fold(found.log),
    results: found.results.map(fold),
    broken: found.broken.map(fold),
  };
};

const sizes = [1, 2, 5, 13, 14, 64, 4096];
const filler = "x".repeat(2 * maxReport);
/** Short enough for a message. */
const fold = (text: string): string => text.replaceAll(filler, "…");

describe("the report reader", () => {
  it.each([
    ["only log", "a\nb\n", "a\nb\n", []],
    ["a report between log", 'a\n::taskbridge {"known":1}\nb\n', "a\nb\n", ['{"known":1}']],
    [
      "a report first and last, without an end of line",
      '::taskbridge {"known":1}\n::taskbridge {"known":2}',
      "",
      ['{"known":1}', '{"known":2}'],
    ],
    ["a report with a carriage return", '::taskbridge {"known":1}\r\nx', "x", ['{"known":1}']],
    ["a marker inside a line", 'a ::taskbridge {"known":1}\n', 'a ::taskbridge {"known":1}\n', []],
    ["almost a marker", "::task\n::taskbridgX\n::taskbridge\n::", "::task\n::taskbridgX\n::taskbridge\n::", []],
    ["what is no report", "::taskbridge nonsense\n::taskbridge \n", "::taskbridge nonsense\n::taskbridge \n", []],
    ["an empty stream", "", "", []],
  ])("tells %s", (_, stream, log, reports) => {
    for (const size of sizes)
      expect([size, read(stream, size)]).toEqual([size, { log, reports, results: [], broken: [] }]);
  });

  it("streams a long result, and goes on behind it", () => {
    for (const size of [1000, 65_536]) {
      const found = read(`a\n::taskbridge { "result" : ["${filler}"] } \n::taskbridge {"known":1}\nb`, size);
      expect(found.results).toEqual(['::taskbridge { "result" : ["…"]']);
      expect(found).toMatchObject({ log: "a\nb", reports: ['{"known":1}'], broken: [] });
    }
  });

  it.each([
    ["ends early", `::taskbridge {"result":["${filler}\n`],
    ["is no JSON", `::taskbridge {"result":["${filler}",]}\n`],
    ["has more behind it", `::taskbridge {"result":["${filler}"],"x":1}\n`],
    ["is cut by the end of the stream", `::taskbridge {"result":["${filler}"]`],
  ])("gives back a long result that %s", (_, line) => {
    for (const size of [1000, 65_536]) {
      const found = read(line, size);
      expect(found.results).toEqual([]);
      expect(`${found.broken.join("")}${found.log}`.trimEnd()).toBe(fold(line).trimEnd());
    }
  });

  it("goes on with reports behind a long result that was none", () => {
    const found = read(`::taskbridge {"result":["${filler}\n::taskbridge {"known":1}\nb\n`, 65_536);
    expect(found).toMatchObject({ reports: ['{"known":1}'], log: "b\n" });
  });

  it("takes a long line of another kind as log", () => {
    const line = `::taskbridge {"known":"${filler}"}\n`;
    expect(read(line, 65_536)).toEqual({ log: fold(line), reports: [], results: [], broken: [] });
  });
});
