import { rmSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, it } from "@jest/globals";
import type { TaskId } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { createSample } from "@taskbridge/testkit/store";
import { rejectionOf, runFixture, useTemporaryFolder } from "./temporary-folder.ts";

const pathTo = useTemporaryFolder();

describe("a lock that another process holds", () => {
  it("is waited for without holding the event loop, while reads go on", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    const known = await createSample(store);
    const { child, lines, exit } = runFixture("hold-lock.mjs", path);
    await lines.next();

    let isCreated = false;
    const creation = createSample(store).then((record) => {
      isCreated = true;
      return record;
    });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (let turns = 0; turns < 25; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await store.read(known.taskId)).toEqual(known);
    }
    delay.disable();
    expect(isCreated).toBe(false);
    // One pause of the machine's own is forgiven; waiting inside SQLite would show as a long one, or as many.
    expect(delay.percentile(90) / 1e6).toBeLessThan(50);
    expect(delay.max / 1e6).toBeLessThan(400);

    child.stdin?.end();
    const created = await creation;
    expect(await store.read(created.taskId)).toEqual(created);
    await exit;
    await store.close();
  });

  it("ends in `unavailable`, naming the file, once the time is up", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path, lockTimeoutMs: 100 });
    const { child, lines, exit } = runFixture("hold-lock.mjs", path);
    await lines.next();
    const error = await rejectionOf(createSample(store));
    expect([error.code, error.operation]).toEqual(["unavailable", "create"]);
    expect(error.message).toContain(`${path} is locked by another process`);
    child.stdin?.end();
    await exit;
    await createSample(store);
    await store.close();
  });

  it("is no longer waited for once the store is closed", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    const { child, lines, exit } = runFixture("hold-lock.mjs", path);
    await lines.next();
    const creation = rejectionOf(createSample(store));
    await store.close();
    await store.close();
    expect((await creation).message).toContain("closed");
    child.stdin?.end();
    await exit;
  });
});

describe("writes of one turn", () => {
  it("share a sync, but no failure: what is refused among them is undone alone", async () => {
    const store = await sqliteStore({ path: pathTo("tasks.db") });
    const known = await createSample(store);
    const written = { payloads: [{ name: "output" as const, bytes: Buffer.from("kept") }] };
    const [first, second, refused, created] = await Promise.allSettled([
      store.revise({ ...known, message: "first" }, known.revision, written),
      store.revise({ ...known, message: "second" }, known.revision, {
        payloads: [{ name: "output", bytes: Buffer.from("not kept") }],
      }),
      store.revise({ ...known, taskId: "unknown" as TaskId }, 1),
      createSample(store),
    ]);
    expect(first).toMatchObject({ status: "fulfilled", value: { message: "first" } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "not_found" } });
    expect(created).toMatchObject({ status: "fulfilled" });
    expect(await store.read(known.taskId)).toMatchObject({ message: "first", revision: known.revision + 1 });
    const output = await store.readPayload(known.taskId, "output", { offset: 0, length: 100 });
    expect(Buffer.from(output?.bytes ?? []).toString()).toBe("kept");
    await store.close();
  });
});

describe("a full disk", () => {
  it("refuses writes as `unavailable`, keeps what is there, and recovers once there is room", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path, maxBytes: 1_000_000 });
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(200_000).fill(1) }];
    const kept: TaskId[] = [];
    const fill = async (): Promise<never> => {
      for (;;)
        kept.push((await createSample(store, {}, { payloads, uniqueKeys: [{ key: `key-${kept.length}` }] })).taskId);
    };
    const error = await rejectionOf(fill());
    expect([error.code, error.message]).toEqual([
      "unavailable",
      expect.stringMatching(/tasks\.db cannot grow.*SQLITE_FULL/),
    ]);
    expect(kept.length).toBeGreaterThan(1);

    const { records } = await store.list({ operator: true }, {}, undefined, 100);
    expect(new Set(records.map((record) => record.taskId))).toEqual(new Set(kept));
    await store.remove(kept[0] as TaskId);
    // The key of the create that failed was not taken by it.
    await createSample(store, {}, { payloads, uniqueKeys: [{ key: `key-${kept.length}` }] });
    await store.close();
  });
});

describe("a process that is killed", () => {
  it("leaves every acknowledged create behind, and nothing by halves", async () => {
    const path = pathTo("tasks.db");
    for (const wanted of [1, 20, 45]) {
      const { child, lines, exit } = runFixture("create-tasks.mjs", path, "0");
      const acknowledged: string[] = [];
      while (acknowledged.length < wanted) acknowledged.push((await lines.next()).value);
      child.kill("SIGKILL");
      for (let line = await lines.next(); !line.done; line = await lines.next()) acknowledged.push(line.value);
      expect(await exit).toEqual([null, "SIGKILL"]);

      const store = await sqliteStore({ path });
      const { records } = await store.list({ operator: true }, {}, undefined, 10_000);
      const found = new Set<string>(records.map((record) => record.taskId));
      expect(acknowledged.filter((taskId) => !found.has(taskId))).toEqual([]);
      for (const { taskId } of records) {
        const payload = await store.readPayload(taskId, "input", { offset: 0, length: 200_000 });
        expect(payload?.bytes.length).toBe(100_000);
      }
      await store.close();
    }
  });
});

describe("a file that is taken away while it is open", () => {
  it("takes no more tasks, rather than keep them where nobody will find them", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    const known = await createSample(store);
    rmSync(path);
    const deleted = await rejectionOf(createSample(store));
    expect(deleted).toMatchObject({ code: "unavailable", message: expect.stringContaining("was deleted") });
    const other = await sqliteStore({ path });
    const replaced = await rejectionOf(store.revise(known, known.revision));
    expect(replaced).toMatchObject({ code: "unavailable", message: expect.stringContaining("was replaced") });
    expect((await createSample(other)).revision).toBe(1);
    await other.close();
    await store.close();
  });
});
