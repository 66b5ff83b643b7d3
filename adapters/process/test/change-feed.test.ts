import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { changeFeed } from "../src/change-feed.ts";
import { until } from "./job-bench.ts";

let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "taskbridge-feed-"));
});
afterEach(() => {
  rmSync(place, { recursive: true });
});

/** Changes a file in every way that supervisors do, and waits until each is told. */
const hearsChanges = async (folder: string, ready: () => void): Promise<void> => {
  const feed = changeFeed(folder);
  const heard: string[] = [];
  const stop = feed.listen((key) => heard.push(key));
  ready();
  const path = join(folder, "mcp-1");
  const changes = [
    () => writeFileSync(path, ""),
    () => utimesSync(path, new Date(), new Date(Date.now() + 5000)),
    () => rmSync(path),
  ];
  for (const change of changes) {
    heard.length = 0;
    change();
    await until("a change", () => (heard.includes("mcp-1") ? true : undefined));
  }
  stop();
  stop();
  feed.close();
};

describe("the change feed", () => {
  it("hears of files that appear, change and go", () => hearsChanges(place, () => {}));

  it("hears of them by polling where the system cannot watch", () => {
    const folder = join(place, "later");
    return hearsChanges(folder, () => mkdirSync(folder));
  });

  it("does not take other names for keys", async () => {
    const feed = changeFeed(place);
    const heard: string[] = [];
    feed.listen((key) => heard.push(key));
    writeFileSync(join(place, ".hidden"), "");
    writeFileSync(join(place, "mcp-2"), "");
    await until("a change", () => (heard.length > 0 ? true : undefined));
    expect(new Set(heard)).toEqual(new Set(["mcp-2"]));
    feed.close();
  });
});
