import { describe, expect, it } from "@jest/globals";
import type { TaskId } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { fakeClock } from "@taskbridge/testkit";
import { createSample } from "@taskbridge/testkit/store";
import Database from "better-sqlite3";
import { runFixture, useTemporaryFolder } from "./temporary-folder.ts";

const pathTo = useTemporaryFolder();

const rowsOf = (path: string, table: string): number => {
  const db = new Database(path, { readonly: true });
  try {
    return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  } finally {
    db.close();
  }
};

describe("large payloads", () => {
  it("are dropped piece by piece, giving way to other work, and leave nothing", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    const { taskId } = await createSample(store);
    const piece = new Uint8Array(256 * 1024).fill(5);
    for (let offset = 0; offset < 31 * 1024 * 1024; offset += piece.length) {
      await store.putPayload(taskId, "output", offset, piece);
    }
    expect(rowsOf(path, "payload_chunks")).toBe(31 * 16);
    let turns = 0;
    let isRemoved = false;
    const countTurns = (): void => {
      turns++;
      if (!isRemoved) setImmediate(countTurns);
    };
    countTurns();
    await store.remove(taskId);
    isRemoved = true;
    expect(turns).toBeGreaterThanOrEqual(31);
    for (const table of ["tasks", "payloads", "payload_chunks", "payload_garbage"]) expect(rowsOf(path, table)).toBe(0);
    await store.close();
  });

  it("whose sweeper died are swept when the store is next opened", async () => {
    const path = pathTo("tasks.db");
    await (await sqliteStore({ path })).close();
    const db = new Database(path);
    const insert = db.prepare("INSERT INTO payload_chunks (payload, position, bytes) VALUES (77, ?, x'00')");
    for (let position = 0; position < 40; position++) insert.run(position);
    db.exec("INSERT INTO payload_garbage (payload) VALUES (77)");
    db.close();
    await (await sqliteStore({ path })).close();
    expect([rowsOf(path, "payload_chunks"), rowsOf(path, "payload_garbage")]).toEqual([0, 0]);
  });

  it("cost a range read only the chunks that it overlaps", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    const bytes = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => index >> 12);
    const { taskId } = await createSample(store, {}, { payloads: [{ name: "output", bytes }] });
    // Whatever else were read would come back empty or fail.
    const db = new Database(path);
    db.exec("DELETE FROM payload_chunks WHERE position NOT IN (3, 4)");
    db.close();
    const range = { offset: 3 * 65_536 + 10, length: 100_000 };
    const chunk = await store.readPayload(taskId, "output", range);
    expect(Buffer.from(chunk?.bytes ?? []).equals(bytes.subarray(range.offset, range.offset + range.length))).toBe(
      true,
    );
    await store.close();
  });
});

describe("unique keys", () => {
  it("are cleared away by later creates once they have lapsed", async () => {
    const clock = fakeClock();
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path, clock });
    for (let index = 0; index < 30; index++) {
      await createSample(store, {}, { uniqueKeys: [{ key: `k${index}`, until: clock.now() + 1000 }] });
    }
    await clock.advance(1000);
    await createSample(store, {}, { uniqueKeys: [{ key: "lasting" }] });
    await createSample(store);
    expect(rowsOf(path, "unique_keys")).toBe(1);
    await store.close();
  });

  it("that outlive their records leave no rows either, once they have lapsed (case 10)", async () => {
    const clock = fakeClock();
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path, clock });
    for (let index = 0; index < 30; index++) {
      const uniqueKeys = [{ key: `id:${index}`, heldForMs: 1000 }];
      const { taskId } = await createSample(store, {}, { uniqueKeys });
      await store.remove(taskId);
    }
    expect(rowsOf(path, "unique_keys")).toBe(30);
    await clock.advance(1000);
    for (let index = 0; index < 2; index++) await createSample(store);
    expect(rowsOf(path, "unique_keys")).toBe(0);
    await store.close();
  });
});

describe("watch", () => {
  it("tells each handle what another has changed, and not what it changed itself", async () => {
    const path = pathTo("tasks.db");
    const [store, other] = [await sqliteStore({ path }), await sqliteStore({ path })];
    const notified: (TaskId | undefined)[] = [];
    const own = await createSample(store);
    let observe = (): void => {};
    const received = new Promise<void>((resolve) => {
      observe = resolve;
    });
    store.watch?.((taskId) => {
      notified.push(taskId);
      observe();
    });
    await store.revise(own, 1);
    const foreign = await createSample(other);
    await received;
    expect(notified).toEqual([foreign.taskId]);
    await store.close();
    await other.close();
  });

  it("keeps no process alive", async () => {
    const { lines, exit } = runFixture("watch-and-leave.mjs", pathTo("tasks.db"));
    expect((await lines.next()).value).toBe("watching");
    expect(await exit).toEqual([0, null]);
  });

  it("keeps the log of changes short", async () => {
    const path = pathTo("tasks.db");
    await (await sqliteStore({ path })).close();
    const db = new Database(path);
    db.exec(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20479) INSERT INTO changes SELECT i, 't', 'o' FROM n",
    );
    db.close();
    const store = await sqliteStore({ path });
    await createSample(store);
    expect(rowsOf(path, "changes")).toBe(8192);
    await store.close();
  });
});
