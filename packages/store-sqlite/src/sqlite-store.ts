import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import {
  assertRange,
  assertValue,
  BridgeError,
  type Lease,
  misconfigured,
  type Payload,
  probeValues,
  type StoredValues,
  showValue,
  type TaskStore,
} from "@taskbridge/core/store";
import { createChangeLog } from "./change-log.ts";
import { openConnection } from "./connection.ts";
import { createPayloadTable } from "./payload-table.ts";
import { createTaskTable } from "./task-table.ts";

export interface SqliteStoreOptions {
  /** The file, created with mode 0600 if it does not exist; its folder must exist. SQLite keeps two more files beside it. */
  readonly path: string;
  /** Milliseconds for which a call waits for a lock that another process holds before it rejects with `unavailable`. Default 5000. */
  readonly lockTimeoutMs?: number;
  /** The size in bytes that the file may reach; writes beyond it reject with `unavailable`. Default: what the disk holds. */
  readonly maxBytes?: number;
  /** Where `now()` comes from. Default: the host's clock, which all processes that open the file share. */
  readonly clock?: { now(): number };
}

/**
 * Opens a store in one SQLite file, which several processes of this host may open at once. Rejects with `misconfigured`
 * for a path that cannot be used, a file of another program or of another schema version, and with `unavailable`
 * for one that stays locked.
 */
export const sqliteStore = async (options: SqliteStoreOptions): Promise<TaskStore> => {
  const { lockTimeoutMs = 5000, maxBytes, clock = Date } = options;
  assertOptions(options);
  const connection = await openConnection({ path: resolve(options.path), lockTimeoutMs, maxBytes });
  const { read, write, prepare } = connection;
  const now = (): number => clock.now();
  const tasks = createTaskTable(connection, now);
  const payloads = createPayloadTable(connection);
  const changes = createChangeLog(connection);

  const putPayloads = (task: number, written: readonly Payload[]): void => {
    for (const { name, bytes } of written) payloads.write(task, name, bytes);
  };

  const findValue = (name: string): string | undefined =>
    prepare("SELECT value FROM stored_values WHERE name = ?").pluck().get(name) as string | undefined;
  const values: StoredValues = {
    read: (name) => read("values.read", () => findValue(name)),
    write: async (name, value, previous, { durable = true } = {}) => {
      assertValue(name, value);
      return write("values.write", durable, () => {
        if (findValue(name) !== previous) return false;
        prepare("INSERT OR REPLACE INTO stored_values (name, value) VALUES (?, ?)").run(name, value);
        return true;
      });
    },
  };

  const store: TaskStore = {
    contract: 1,
    shared: false,
    now,

    create: async (record, createOptions) => {
      const created = { ...record, revision: 1 };
      const text = JSON.stringify(created);
      await write("create", true, () => {
        putPayloads(tasks.insert(created, text, createOptions), createOptions.payloads);
        changes.append(record.taskId);
      });
      return JSON.parse(text);
    },

    read: (taskId) => read("read", () => tasks.read(taskId)),

    revise: async (record, expectedRevision, { payloads: written = [], dropPayloads = [], durable = true } = {}) => {
      const revised = { ...record, revision: expectedRevision + 1 };
      const text = JSON.stringify(revised);
      await write("revise", durable, () => {
        const task = tasks.update(revised, text, expectedRevision);
        payloads.drop(task, dropPayloads);
        putPayloads(task, written);
        changes.append(record.taskId);
      });
      await payloads.sweep();
      return JSON.parse(text);
    },

    remove: async (taskId, expectedRevision) => {
      const wasThere = await write("remove", true, () => {
        const task = tasks.find(taskId, expectedRevision);
        if (task === undefined) return false;
        payloads.drop(task, "all");
        tasks.delete(taskId);
        changes.append(taskId);
        return true;
      });
      await payloads.sweep();
      return wasThere;
    },

    list: (scope, filter, cursor, limit) => read("list", () => tasks.list(scope, filter, cursor, limit)),
    due: (limit) => read("due", () => tasks.due(limit)),
    nextWakeAt: () => read("nextWakeAt", () => tasks.nextWakeAt()),
    findByExecution: (adapterId, by) => read("findByExecution", () => tasks.findByExecution(adapterId, by)),

    putPayload: async (taskId, name, offset, bytes) => {
      await write("putPayload", false, () => {
        const task = tasks.find(taskId);
        if (task === undefined)
          throw new BridgeError("not_found", `there is no task ${taskId}`, { operation: "putPayload" });
        payloads.writeAt(task, name, offset, bytes);
      });
      await payloads.sweep();
    },

    readPayload: (taskId, name, range) =>
      read("readPayload", () => {
        assertRange(range);
        const task = tasks.find(taskId);
        return task === undefined ? undefined : payloads.read(task, name, range);
      }),

    values,
    probe: () => probeValues(values),

    // Not durable: whoever held a lease is gone with the machine.
    lease: async (name, ttlMs): Promise<Lease | undefined> => {
      const holder = randomUUID();
      const take = `INSERT INTO leases (name, holder, until) VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE until <= ?`;
      const extend = "UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND until > ?";
      const taken = await write(
        "lease",
        false,
        () => prepare(take).run(name, holder, now() + ttlMs, now()).changes === 1,
      );
      if (!taken) return undefined;
      return {
        renew: () => write("lease", false, () => prepare(extend).run(now() + ttlMs, name, holder, now()).changes === 1),
        release: () =>
          write("lease", false, () => {
            prepare("DELETE FROM leases WHERE name = ? AND holder = ?").run(name, holder);
          }),
      };
    },

    watch: changes.watch,

    describe: () =>
      read("describe", () => ({
        kind: `SQLite ${prepare("SELECT sqlite_version()").pluck().get()}`,
        location: resolve(options.path),
        // Switched for writes that need not last, so what it happens to be set to says nothing.
        durability: "synchronous = FULL for each write that must last",
      })),

    close: async () => {
      changes.close();
      connection.close();
    },
  };
  await payloads.sweep();
  return store;
};

const assertOptions = ({ path, lockTimeoutMs, maxBytes }: SqliteStoreOptions): void => {
  const refuse = (message: string): BridgeError => new BridgeError("misconfigured", message);
  if (typeof path !== "string" || path === "") throw refuse(`path must name a file, got ${JSON.stringify(path)}`);
  if (path === ":memory:")
    throw refuse("a SQLite store is a file; for one that lives in memory use memory: or memoryStore()");
  for (const [name, value] of Object.entries({ lockTimeoutMs, maxBytes })) {
    if (value !== undefined && !(typeof value === "number" && value >= 0))
      throw misconfigured(name, `must be a number from 0, got ${showValue(value)}`);
  }
};
