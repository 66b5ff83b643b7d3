import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { changeFeed } from "../src/change-feed.ts";
import { until } from "./job-bench.ts";

let location: string;
let opened: ReturnType<typeof changeFeed> | undefined;

beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), "taskbridge-feed-"));
});
afterEach(() => {
  opened?.close();
  rmSync(location, { recursive: true });
});

/** Changes a file in every way that supervisors do, and waits until each is told. */
const receivesChanges = async (folder: string, ready: () => void): Promise<void> => {
  const feed = changeFeed(folder);
  const received: string[] = [];
  const stop = feed.listen((key) => received.push(key));
  ready();
  const path = join(folder, "mcp-1");
  const changes = [
    () => writeFileSync(path, ""),
    () => utimesSync(path, new Date(), new Date(Date.now() + 5000)),
    () => rmSync(path),
  ];
  for (const change of changes) {
    received.length = 0;
    change();
    await until("a change", () => (received.includes("mcp-1") ? true : undefined));
  }
  stop();
  stop();
  feed.close();
};

describe("the change feed", () => {
  it("hears of files that appear, change and go", () => receivesChanges(location, () => {}));

  it("hears of them by polling where the system cannot watch", () => {
    const folder = join(location, "later");
    return receivesChanges(folder, () => mkdirSync(folder));
  });

  it("watches again when the folder was removed and made again", async () => {
    const folder = join(location, "jobs", ".events");
    mkdirSync(folder, { recursive: true });
    opened = changeFeed(folder);
    const received: string[] = [];
    opened.listen((key) => received.push(key));
    const receives = async (key: string): Promise<void> => {
      writeFileSync(join(folder, key), "");
      await until(key, () => (received.includes(key) ? true : undefined));
    };
    await receives("mcp-1");
    const begunAt = performance.now();
    for (const round of [2, 3, 4]) {
      rmSync(join(location, "jobs"), { recursive: true });
      mkdirSync(folder, { recursive: true });
      await receives(`mcp-${round}`);
      await receives(`mcp-${round}-later`);
    }
    // Looking by itself takes two seconds each time where a change is not told.
    expect(performance.now() - begunAt).toBeLessThan(4000);
  });

  it("does not take other names for keys", async () => {
    const feed = changeFeed(location);
    const received: string[] = [];
    feed.listen((key) => received.push(key));
    writeFileSync(join(location, ".hidden"), "");
    writeFileSync(join(location, "mcp-2"), "");
    await until("a change", () => (received.length > 0 ? true : undefined));
    expect(new Set(received)).toEqual(new Set(["mcp-2"]));
    feed.close();
  });
});
