import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { seeded } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { type ServerProcess, startServer } from "../server-process.ts";

/** `npm run soak` raises these. */
const ids = Number(process.env.TASKBRIDGE_CLIENT_IDS ?? 8);
const kills = Number(process.env.TASKBRIDGE_CLIENT_ID_KILLS ?? 2);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

/** How many IDs are under way at once, each with three calls. */
const width = 8;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-ids-"));
});
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await rm(folder, { recursive: true, force: true });
});

/** Points inside a request at which a server kills itself. */
const points = ["after-create", "before-start", "after-accept", "after-ref"] as const;

interface Greeted {
  readonly url: string;
  /** Of the session. */
  readonly id: string;
}

/** One of the two places where a server runs, with life after life in it. */
interface Target {
  /** A session with the server that runs at present, or as soon as one does. */
  session(): Promise<Greeted>;
  /** Kills the server, and resolves when the next one runs. */
  kill(): Promise<void>;
  deaths(): number;
}

const greetLater = () => {
  let resolve: (greeted: Greeted) => void = () => {};
  const promise = new Promise<Greeted>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};

const openTarget = (nextFault: () => string): Target => {
  let server: ServerProcess | undefined;
  let isOver = false;
  let deaths = 0;
  let up = greetLater();
  const live = async (): Promise<void> => {
    while (!isOver) {
      server = await startServer(folder, nextFault(), "sep-1686,2025-11-25,none");
      if (server === undefined) {
        deaths += 1;
        continue;
      }
      // A server may die while it is greeted.
      const greeted = await rpc2025(server.url, { revision: "2025-06-18" }).catch(() => undefined);
      if (greeted !== undefined) up.resolve({ url: server.url, id: greeted.sessionId });
      await server.gone;
      if (!isOver) deaths += 1;
      if (greeted !== undefined) up = greetLater();
    }
  };
  const life = live();
  stops.push(async () => {
    isOver = true;
    server?.signal("SIGKILL");
    await life;
  });
  return {
    session: () => up.promise,
    kill: async () => {
      const dying = server;
      dying?.signal("SIGKILL");
      await dying?.gone;
      await sleep(0);
      await up.promise;
    },
    deaths: () => deaths,
  };
};

let requests = 0;
const nextRequestId = (): string => `request-${++requests}`;

/** The first message of the answer to a request; then the client leaves. Rejects when the server dies before. */
const firstMessage = async (target: Target, method: string, params: object): Promise<Message> => {
  const { url, id } = await target.session();
  const leaving = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": id,
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: nextRequestId(), method, params }),
    signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(30_000)]),
  });
  let text = "";
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const data = text.startsWith("{") ? text : /^data: (\{.*)\n/m.exec(text)?.[1];
      const message = data === undefined ? undefined : readMessage(data);
      if (message !== undefined) return message;
    }
  } finally {
    leaving.abort();
  }
  throw new Error(`no answer: HTTP ${response.status}`);
};

const readMessage = (text: string): Message | undefined => {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return undefined;
  }
};

/** Sends a call until somebody has taken it, as a client does that never heard of its fate. */
const call = async (target: Target, taskId: string, n: number, ms: number): Promise<"created" | "exists"> => {
  const mark = { "modelcontextprotocol.io/task": { taskId } };
  const params = { name: "work", arguments: { n, ms }, _meta: mark };
  for (let attempt = 1; attempt <= 100; attempt++) {
    const message = await firstMessage(target, "tools/call", params).catch(() => undefined);
    if (message?.method === "notifications/tasks/created") return "created";
    if (message?.error?.message === `Task ID already exists: ${taskId}`) return "exists";
    if (message?.error !== undefined && ![503, -32_603].includes(message.error.code))
      throw new Error(JSON.stringify(message));
    await sleep(50);
  }
  throw new Error(`nobody takes ${taskId}`);
};

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

const untilAllEnded = async (store: TaskStore): Promise<readonly TaskRecord[]> => {
  const until = Date.now() + 120_000;
  for (;;) {
    const records = await allRecords(store);
    const open = records.filter((record) => record.slotHeld || record.endedAt === undefined);
    if (open.length === 0) return records;
    if (Date.now() > until) throw new Error(`these do not end: ${JSON.stringify(open, null, 1)}`);
    await sleep(100);
  }
};

/** The jobs that were really carried out, by their numbers, in order. */
const readJournal = async (): Promise<readonly number[]> =>
  (await readFile(`${folder}/journal`, "utf8"))
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ")[0]))
    .toSorted((one, other) => one - other);

describe("IDs that clients choose", () => {
  it(`[M-5] start one execution each: ${ids} of them, three calls to two servers over ${kills} kills, and none after a delete`, async () => {
    const random = seeded(seed);
    let left = kills;
    const nextFault = (): string => {
      if (left === 0) return "";
      left -= 1;
      return `${points[Math.floor(random() * points.length)]}:${1 + Math.floor((random() * ids) / kills)}`;
    };
    const targets = [openTarget(nextFault), openTarget(nextFault)] as const;
    const outcomes = { created: 0, exists: 0 };
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < ids) {
        const n = next++;
        const ms = 40 + Math.floor(random() * 200);
        const first = Math.floor(random() * 2);
        const calls = [0, 1, random() < 0.5 ? 0 : 1].map(async (turn) => {
          const target = targets[(first + turn) % 2] as Target;
          outcomes[await call(target, `c-${n}`, n, ms)] += 1;
        });
        await Promise.all(calls);
      }
    };
    await Promise.all(Array.from({ length: width }, work));

    const store = await openStore();
    const records = await untilAllEnded(store);
    const wanted = Array.from({ length: ids }, (_, index) => index);
    expect(await readJournal()).toEqual(wanted);
    expect(records).toHaveLength(ids);
    expect(records.filter(({ state }) => state !== "succeeded").map(({ message }) => message)).toEqual([]);
    expect(outcomes.created).toBeLessThanOrEqual(ids);
    expect(outcomes.created + outcomes.exists).toBe(3 * ids);
    for (const n of wanted) {
      const { result } = await firstMessage(targets[n % 2] as Target, "tasks/result", { taskId: `c-${n}` });
      expect(result).toMatchObject({ content: [{ type: "text", text: JSON.stringify({ n }) }] });
    }

    const deleted = wanted.slice(0, 3);
    for (const n of deleted) {
      const { error } = await firstMessage(targets[n % 2] as Target, "tasks/delete", { taskId: `c-${n}` });
      expect(error).toBeUndefined();
    }
    await Promise.all(targets.map((target) => target.kill()));
    const late = deleted.flatMap((n) => targets.map((target) => call(target, `c-${n}`, n, 40)));
    expect(new Set(await Promise.all(late))).toEqual(new Set(["exists"]));
    expect(await readJournal()).toEqual(wanted);
    expect((await untilAllEnded(store)).length).toBe(ids - deleted.length);
    await store.close();
    const [one, other] = targets.map((target) => target.deaths());
    process.stderr.write(
      `client IDs: seed ${seed}, ${ids} IDs, ${3 * ids} calls (${outcomes.created} told of a new task), servers died ${one} and ${other} times\n`,
    );
  }, 900_000);
});
