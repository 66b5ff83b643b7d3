import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { changeFeed } from "../src/change-feed.ts";
import { until } from "./job-bench.ts";

let place: string;
let opened: ReturnType<typeof changeFeed> | undefined;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "taskbridge-feed-"));
});
afterEach(() => {
  opened?.close();
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

  it("watches again when the folder was removed and made again", async () => {
    const folder = join(place, "jobs", ".events");
    mkdirSync(folder, { recursive: true });
    opened = changeFeed(folder);
    const heard: string[] = [];
    opened.listen((key) => heard.push(key));
    const hears = async (key: string): Promise<void> => {
      writeFileSync(join(folder, key), "");
      await until(key, () => (heard.includes(key) ? true : undefined));
    };
    await hears("mcp-1");
    const begunAt = performance.now();
    for (const round of [2, 3, 4]) {
      rmSync(join(place, "jobs"), { recursive: true });
      mkdirSync(folder, { recursive: true });
      await hears(`mcp-${round}`);
      await hears(`mcp-${round}-later`);
    }
    // Looking by itself takes two seconds each time where a change is not told.
    expect(performance.now() - begunAt).toBeLessThan(4000);
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
