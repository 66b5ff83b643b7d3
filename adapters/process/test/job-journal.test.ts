import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core/adapter";
import { eventFolder, type JobState } from "../src/job-folder.ts";
import { jobJournal } from "../src/job-journal.ts";

let location: string;

beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), "taskbridge-journal-"));
  mkdirSync(eventFolder(location));
});
afterEach(() => rmSync(location, { recursive: true }));

describe("the journal of a job", () => {
  it("leaves out a question that cannot be written, and writes the rest", async () => {
    const folder = join(location, "mcp-1");
    mkdirSync(folder);
    const journal = jobJournal(folder, "mcp-1");
    const schema = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`) as JsonObject;
    const owner = { pid: 1, startTime: "", boot: "", host: "" } as unknown as JobState["child"];
    const state: JobState = {
      version: 1,
      supervisor: owner,
      child: owner,
      startedAt: 1,
      progress: { done: 1 },
      questions: [
        { id: "deep", key: "deep", message: "?", schema },
        { id: "plain", key: "plain", message: "?" },
      ],
      warnings: [],
    };
    journal.publish(() => state, true);
    const written = JSON.parse(readFileSync(join(folder, "state.json"), "utf8")) as JobState;
    expect(written).toMatchObject({ progress: { done: 1 }, questions: [{ id: "plain" }] });
    await journal.end({ version: 1, status: "cancelled", endedAt: 2, unanswered: [], warnings: [] });
  });
});
