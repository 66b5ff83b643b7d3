import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { seeded } from "@taskbridge/testkit";
import { rpcClient } from "../rpc-client.ts";
import { type ServerProcess, startServer } from "../server-process.ts";

/** `npm run soak` raises these. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 3);
const wanted = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 12);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

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

/** Resolves once every record has ended; otherwise tells what the others are about. */
const untilAllEnded = async (store: TaskStore): Promise<void> => {
  const isOpen = (record: TaskRecord): boolean => record.slotHeld || record.endedAt === undefined;
  try {
    await untilTrue("all records have ended", 90_000, async () => !(await allRecords(store)).some(isOpen));
  } catch (error) {
    throw new Error(
      `${(error as Error).message}: ${JSON.stringify((await allRecords(store)).filter(isOpen), null, 1)}`,
    );
  }
};

/** How a life of the server ends: at a point inside a request that is certain to be met, or at a random moment. */
const ends = ["after-accept", "SIGSTOP", "after-create", "SIGKILL", "before-start", "after-ref"] as const;

describe("kills while jobs are started", () => {
  it(`starts each of ${wanted} jobs exactly once over ${kills} kills, and loses none that was acknowledged`, async () => {
    const random = seeded(seed);
    const acknowledged = new Map<number, string>();
    const counts = new Map<string, number>();
    let n = 0;
    let store = await openStore();
    for (let life = 0; life < kills || (await allRecords(store)).length < wanted; life++) {
      if (life > kills * 3) throw new Error("the records do not come together");
      const how = ends[life % ends.length] as string;
      const isPoint = !how.startsWith("SIG");
      const quota = Math.ceil(wanted / kills) + 1;
      const server = await startServer(folder, isPoint ? `${how}:${1 + Math.floor(random() * quota)}` : "");
      live = server;
      if (server === undefined) continue;
      let answered = 0;
      const calls = Array.from({ length: quota }, async (_, index) => {
        // Half of them at once, the others spread, so that a kill meets calls in every stage.
        await sleep(index % 2 === 0 ? 0 : random() * 600);
        const mine = ++n;
        const work = { n: mine, ms: 400 + Math.floor(random() * 1_500) };
        const answer = await rpcClient(server.url)("tools/call", { name: "work", arguments: work });
        if (typeof answer.result.taskId === "string") acknowledged.set(mine, answer.result.taskId);
        answered++;
      });
      counts.set(how, (counts.get(how) ?? 0) + 1);
      if (isPoint) {
        // A point that is not reached as often as hoped: the calls are over, kill it here.
        await Promise.race([server.gone, Promise.allSettled(calls)]);
      } else {
        await untilTrue("some calls are answered", 20_000, async () => answered >= quota / 3);
        if (how === "SIGSTOP") {
          server.signal("SIGSTOP");
          await sleep(500 + random() * 1_000);
          server.signal("SIGCONT");
        }
        await sleep(random() * 300);
      }
      server.signal("SIGKILL");
      await server.gone;
      await Promise.allSettled(calls);
    }
    await store.close();
    live = await startServer(folder);
    store = await openStore();
    await untilAllEnded(store);
    const records = await allRecords(store);
    const journal = (await readFile(`${folder}/journal`, "utf8"))
      .trim()
      .split("\n")
      .map((line) => Number(line.split(" ")[0]));
    const inputs = await Promise.all(records.map((record) => inputOf(store, record)));

    expect(journal.toSorted((a, b) => a - b)).toEqual(inputs.toSorted((a, b) => a - b));
    expect(new Set(journal).size).toBe(journal.length);
    expect(acknowledged.size).toBeGreaterThan(wanted / 5);
    const ids = new Set(records.map((record) => record.taskId as string));
    expect([...acknowledged.values()].filter((taskId) => !ids.has(taskId))).toEqual([]);
    expect(records.filter((record) => record.state !== "succeeded").map((record) => record.message)).toEqual([]);
    for (const [index, record] of records.entries()) {
      const { result } = await rpcClient(live?.url ?? "")("tasks/get", { taskId: record.taskId });
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
    const { result } = await rpcClient(first.url)("tools/call", { name: "work", arguments: { n: 1, ms: 60_000 } });
    const taskId = String(result.taskId);
    // The answer may or may not make it out before the kill; the record has the request either way.
    await rpcClient(first.url)("tasks/cancel", { taskId }).catch(() => undefined);
    await first.gone;
    const second = await startServer(folder);
    live = second;
    if (second === undefined) throw new Error("the server did not start again");
    await untilTrue("the task is cancelled", 50_000, async () => {
      const answer = await rpcClient(second.url)("tasks/get", { taskId });
      return answer.result.status === "cancelled";
    });
    const pid = Number((await readFile(`${folder}/journal`, "utf8")).trim().split(" ")[1]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  }, 90_000);
});
