/**
 * Conversations as they go over HTTP, byte for byte but for IDs and times, against `transcripts/<wire>/<scenario>.jsonl`, and
 * what the server says in them against the official schemas. After a change that is meant,
 * `TASKBRIDGE_RECORD_GOLDEN=1 npm test -- golden` in this package writes the transcripts anew; the diff is the review.
 */
import { afterEach, describe, expect, test } from "@jest/globals";
import { stopAll } from "../serve.ts";
import { goldenWires } from "./golden-wires.ts";
import { httpRevisions } from "./http-revisions.ts";
import { toTranscript } from "./to-transcript.ts";
import { listTranscripts, matchTranscript } from "./transcript-file.ts";
import { validateLines } from "./validate-lines.ts";

afterEach(stopAll);

describe.each(goldenWires)("$name", ({ name: wire, dialect, scenarios }) => {
  test.each(scenarios)("$name", async ({ name, record }) => {
    const lines = await record();
    expect(validateLines(lines, dialect)).toEqual([]);
    matchTranscript(`${wire}/${name}`, toTranscript(lines));
  });
});

test("every transcript has its scenario", () => {
  const played = goldenWires.flatMap(({ name: wire, scenarios }) => scenarios.map(({ name }) => `${wire}/${name}`));
  const exchanged = httpRevisions.flatMap(({ name, groups }) => groups.map((group) => `${name}/${group.name}`));
  expect(listTranscripts()).toEqual([...played, ...exchanged].sort());
});
