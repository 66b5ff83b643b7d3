import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { probeValues, type StoreDescription, type TaskId, type TaskStore } from "@taskbridge/core/store";
import { createChangeListener } from "./changes/change-listener.ts";
import { createChangePublisher } from "./changes/change-publisher.ts";
import { createKeys } from "./keys.ts";
import { acquireLease } from "./leases.ts";
import { parseOptions, type RedisStoreOptions } from "./parse-options.ts";
import { removeRecord, reviseRecord } from "./records/change-record.ts";
import { createRecord } from "./records/create-record.ts";
import { createDueRecords } from "./records/due-records.ts";
import { findRecord, listRecords } from "./records/list-records.ts";
import { putPayload, readPayload } from "./records/payloads.ts";
import { parseRecord } from "./records/stored-record.ts";
import { checkDatabase, checkEviction, checkSchema } from "./redis/check-server.ts";
import { closedError, inTime } from "./redis/client-port.ts";
import { openConnection } from "./redis/connection.ts";
import { describeServer } from "./redis/describe-server.ts";
import { addressOf } from "./redis/redis-client.ts";
import type { Call, RedisPort } from "./redis/redis-port.ts";
import { createServerClock } from "./redis/server-clock.ts";
import { toError } from "./redis/to-error.ts";
import type { StoreContext } from "./store-context.ts";
import { createValues } from "./values.ts";

/** Names under which a probe writes, in turn. */
const probedNames = 16;
/** How often the server is asked for its time (milliseconds). */
const readTimeEveryMs = 10_000;

/**
 * Opens a store in Redis (6.2 or later) or Valkey, alone or as a cluster, for any number of processes. Rejects with `misconfigured` for
 * options that cannot work, a refused login, a server that evicts any key, and a store of a newer version; with `unavailable` for a server
 * that is not reached in time.
 */
export const redisStore = async (options: RedisStoreOptions): Promise<TaskStore> => {
  const parsed = parseOptions(options);
  const { operationTimeoutMs } = parsed;
  const startCall = (operation: string, isDurable = false): Call => ({
    operation,
    isDurable,
    endsAt: performance.now() + operationTimeoutMs,
  });
  const opening = startCall("open");
  const { client, port, close } = await openConnection(parsed, opening);
  const keys = createKeys(parsed.prefix);
  const clock = createServerClock(port, keys.clock, () => options.clock?.now() ?? performance.now());
  try {
    await inTime(opening, checkDatabase(client, addressOf(client)));
    await inTime(opening, checkEviction(client, addressOf(client)));
    await checkSchema(port, opening, keys.schema, addressOf(client));
    await clock.read(opening);
  } catch (error) {
    close();
    throw toError(error, addressOf(client), "open");
  }
  const readTime = (): Promise<void> => clock.read(startCall("now"));
  // One that fails leaves the time as it was; the next comes soon, and the first after an outage at once.
  const readTimeLater = (): void => void readTime().catch(() => {});
  const timer = setInterval(readTimeLater, readTimeEveryMs).unref();
  client.on("ready", readTimeLater);
  const origin = randomBytes(6).toString("base64url");
  const { channel } = keys;
  const publisher = createChangePublisher({ port, channel, origin, startCall });
  const listener = createChangeListener({ client, channel, origin, timeoutMs: operationTimeoutMs });
  const context: StoreContext = { port, keys, now: clock.now, readTime, announce: publisher.announce };
  const describe = async (): Promise<StoreDescription> => {
    try {
      return await inTime(startCall("describe"), describeServer(client, parsed));
    } catch (error) {
      throw toError(error, addressOf(client), "describe");
    }
  };
  return storeOn(context, startCall, {
    describe,
    watch: listener.watch,
    close: async () => {
      clearInterval(timer);
      client.off("ready", readTimeLater);
      listener.close();
      await publisher.close();
      close();
    },
  });
};

/** What a store has beside its verbs. */
export interface StoreFrame {
  describe?: NonNullable<TaskStore["describe"]>;
  watch: NonNullable<TaskStore["watch"]>;
  close(): Promise<void>;
}

/** The verbs on whatever carries out the commands. */
export const storeOn = (
  { port: open, ...rest }: StoreContext,
  startCall: (operation: string, isDurable?: boolean) => Call,
  frame: StoreFrame,
): TaskStore => {
  let isClosed = false;
  const port: RedisPort = {
    send: async (call, ...stages) => {
      if (isClosed) throw closedError(call.operation);
      return open.send(call, ...stages);
    },
  };
  const context: StoreContext = { ...rest, port };
  const { keys } = context;
  const due = createDueRecords(context);
  const values = createValues(context, startCall);
  let probes = 0;
  const announced = async <Value>(taskId: TaskId, write: Promise<Value>): Promise<Value> => {
    const value = await write;
    context.announce(taskId);
    return value;
  };

  return {
    contract: 1,
    shared: true,
    now: context.now,
    create: (record, options) =>
      announced(record.taskId, createRecord(context, startCall("create", true), record, options)),
    read: async (taskId) => {
      const [stored] = await port.send(startCall("read"), [{ call: ["get", keys.record(taskId)] }]);
      return typeof stored === "string" ? parseRecord(stored) : undefined;
    },
    revise: (record, expectedRevision, options = {}) => {
      const call = startCall("revise", options.durable !== false);
      return announced(record.taskId, reviseRecord(context, call, record, expectedRevision, options));
    },
    remove: async (taskId, expectedRevision) => {
      const wasThere = await removeRecord(context, startCall("remove", true), taskId, expectedRevision);
      if (wasThere) context.announce(taskId);
      return wasThere;
    },
    list: (scope, filter, cursor, limit) => listRecords(context, startCall("list"), { scope, filter, cursor, limit }),
    due: (limit, claimForMs) => due.due(startCall("due"), limit, claimForMs),
    nextWakeAt: () => due.nextWakeAt(startCall("nextWakeAt")),
    findByExecution: (adapterId, by) => findRecord(context, startCall("findByExecution"), adapterId, by),
    putPayload: (taskId, name, offset, bytes) =>
      putPayload(context, startCall("putPayload"), taskId, { name, offset, bytes }),
    readPayload: (taskId, name, range) => readPayload(context, startCall("readPayload"), taskId, name, range),
    values,
    // On a cluster the names are spread over the masters, so that each of them is probed in its turn.
    probe: () => probeValues(values, `probe:${probes++ % probedNames}`),
    lease: (name, ttlMs) => acquireLease(context, startCall, name, ttlMs),
    watch: frame.watch,
    ...(frame.describe === undefined ? {} : { describe: frame.describe }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await frame.close();
    },
  };
};
