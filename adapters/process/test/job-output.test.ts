import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { jobOutput } from "../src/job-output.ts";
import { jobStreams } from "../src/job-streams.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "taskbridge-output-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("what goes wrong with one part of the output", () => {
  it("is a warning and leaves the line in the log, and the next lines are read", () => {
    const warnings: string[] = [];
    const seen: string[] = [];
    const output = jobOutput({
      folder,
      maxBytes: 1000,
      warn: (message) => warnings.push(message),
      report(json) {
        if (json.includes("bad")) throw new RangeError("too deep");
        return seen.push(json) > 0;
      },
    });
    output.stdout(Buffer.from("::taskbridge bad\n::taskbridge good\nlog\n"));
    output.end();
    expect(seen).toEqual(["good\n"]);
    expect(readFileSync(join(folder, "stdout.log"), "utf8")).toBe("::taskbridge bad\nlog\n");
    expect(warnings).toEqual([expect.stringContaining("too deep")]);
  });

  it("does not end the reading of a stream", async () => {
    const stream = new PassThrough();
    const warnings: string[] = [];
    const seen: string[] = [];
    const take = (chunk: Buffer): void => {
      if (seen.push(chunk.toString()) === 1) throw new Error("no");
    };
    const streams = jobStreams([[stream, take]], (message) => warnings.push(message));
    stream.write("one");
    stream.end("two");
    await streams.drain();
    expect(seen.join("")).toBe("onetwo");
    expect(warnings).toHaveLength(1);
  });
});
