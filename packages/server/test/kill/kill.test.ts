import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { type ServerProcess, startServer } from "./server-process.ts";
import { callWire } from "./wire.ts";

/** `npm run soak` raises these. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 20);
const wanted = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 100);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

/** Mulberry32: a small seeded generator, so that a failing run can be repeated as far as the machine allows. */
const seeded = (start: number): (() => number) => {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

let folder: string;
let live: ServerProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-kill-"));
});
afterEach(async () => {
  live?.signal("SIGKILL");
  await live?.gone;
  live = undefined;
  await rm(folder, { recursive: true, force: true });
});

const openStore = (): Promise<TaskStore> => sqliteStore({ path: `${folder}/tasks.db` });

const allRecords = async (store: TaskStore): Promise<TaskRecord[]> => {
  const records: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ operator: true }, { includeExpired: true }, cursor, 100);
    records.push(...page.records);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return records;
};

const inputOf = async (store: TaskStore, record: TaskRecord): Promise<number> => {
  const chunk = await store.readPayload(record.taskId, "input", { offset: 0, length: 10_000 });
  return (JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()) as { n: number }).n;
};

const untilTrue = async (what: string, deadlineMs: number, check: () => Promise<boolean>): Promise<void> => {
  const until = Date.now() + deadlineMs;
  while (!(await check())) {
    if (Date.now() > until) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await sleep(50);
  }
};

const faults = ["after-accept", "after-create", "before-start", "after-ref", ""] as const;

describe("kills while jobs are started", () => {
  it(`starts each of ${wanted} jobs exactly once over ${kills} kills, and loses none that was acknowledged`, async () => {
    const random = seeded(seed);
    const acknowledged = new Map<number, string>();
    const counts = new Map<string, number>();
    let n = 0;
    let store = await openStore();
    for (let life = 0; life < kills || (await allRecords(store)).length < wanted; life++) {
      if (life > kills * 3) throw new Error("the records do not come together");
      const point = faults[life % faults.length] as string;
      const server = await startServer(folder, point === "" ? "" : `${point}:${1 + Math.floor(random() * 5)}`);
      live = server;
      if (server === undefined) continue;
      const quota = Math.ceil(wanted / kills) + 1;
      const calls = Array.from({ length: quota }, async () => {
        await sleep(random() * 400);
        const mine = ++n;
        const answer = await callWire(server.url, "tools/call", {
          name: "work",
          arguments: { n: mine, ms: 400 + Math.floor(random() * 1_500) },
        });
        if (typeof answer.result?.taskId === "string") acknowledged.set(mine, answer.result.taskId);
      });
      const how = point !== "" ? point : random() < 0.5 ? "SIGSTOP" : "SIGKILL";
      counts.set(how, (counts.get(how) ?? 0) + 1);
      if (how === "SIGSTOP") {
        await sleep(random() * 300);
        server.signal("SIGSTOP");
        await sleep(500 + random() * 1_000);
        server.signal("SIGCONT");
        await sleep(random() * 300);
      } else {
        await Promise.race([server.gone, sleep(200 + random() * 600)]);
      }
      server.signal("SIGKILL");
      await server.gone;
      await Promise.allSettled(calls);
    }
    await store.close();
    live = await startServer(folder);
    store = await openStore();
    await untilTrue("all records have ended", 60_000, async () =>
      (await allRecords(store)).every((record) => !record.slotHeld && record.endedAt !== undefined),
    );
    const records = await allRecords(store);
    const journal = (await readFile(`${folder}/journal`, "utf8"))
      .trim()
      .split("\n")
      .map((line) => Number(line.split(" ")[0]));
    const inputs = await Promise.all(records.map((record) => inputOf(store, record)));

    expect(journal.toSorted((a, b) => a - b)).toEqual(inputs.toSorted((a, b) => a - b));
    expect(new Set(journal).size).toBe(journal.length);
    const ids = new Set(records.map((record) => record.taskId as string));
    expect([...acknowledged.values()].filter((taskId) => !ids.has(taskId))).toEqual([]);
    expect(records.filter((record) => record.state !== "succeeded").map((record) => record.message)).toEqual([]);
    for (const [index, record] of records.entries()) {
      const { result } = await callWire(live?.url ?? "", "tasks/get", { taskId: record.taskId });
      expect(result).toMatchObject({
        status: "completed",
        result: { content: [{ type: "text", text: JSON.stringify({ n: inputs[index] }) }] },
      });
    }
    await store.close();
    process.stderr.write(
      `kill test: seed ${seed}, ${[...counts].map(([how, times]) => `${how} ×${times}`).join(", ")}; records ${records.length}, executions ${journal.length}, acknowledged ${acknowledged.size}, all read back\n`,
    );
  }, 280_000);

  it("stops the execution after a restart when it was killed between the answer to a cancel and the backend call", async () => {
    const first = await startServer(folder, "before-cancel:1");
    live = first;
    if (first === undefined) throw new Error("the server did not start");
    const { result } = await callWire(first.url, "tools/call", { name: "work", arguments: { n: 1, ms: 60_000 } });
    const taskId = String(result?.taskId);
    // The answer may or may not make it out before the kill; the record has the request either way.
    await callWire(first.url, "tasks/cancel", { taskId }).catch(() => undefined);
    await first.gone;
    const second = await startServer(folder);
    live = second;
    if (second === undefined) throw new Error("the server did not start again");
    await untilTrue("the task is cancelled", 50_000, async () => {
      const answer = await callWire(second.url, "tasks/get", { taskId });
      return answer.result?.status === "cancelled";
    });
    const pid = Number((await readFile(`${folder}/journal`, "utf8")).trim().split(" ")[1]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  }, 90_000);
});
