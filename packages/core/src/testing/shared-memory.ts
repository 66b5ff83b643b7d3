import { memoryStore } from "../memory-store.ts";
import { BridgeError, removedIdReservedMs, type TaskId, type TaskStore } from "../store.ts";
import type { FakeClock } from "./fake-clock.ts";

/** A store in this process that behaves like one on a network. */
export interface SharedMemory {
  /** A handle as one server process has it. */
  open(): SharedMemoryHandle;
}

export type StoreFault = "unavailable" | "refuses writes" | "loses answers";

export interface SharedMemoryHandle extends TaskStore {
  /**
   * What happens to this handle's calls from now on. `unavailable`: they reject with `unavailable`, and nothing is written.
   * `refuses writes`: likewise, but for reads. `loses answers`: what they ask is done, and then they reject like that.
   * Undefined: nothing.
   */
  fail(how: StoreFault | undefined): void;
  /** Its connection breaks and is there again: what others wrote since `fail("unavailable")` was not told. */
  reconnect(): void;
}

interface Claim {
  readonly revision: number;
  readonly until: number;
}

/** Several handles to one memory: for tests of several servers on one store, without a server for the store. */
export const sharedMemory = (options: { readonly clock?: FakeClock } = {}): SharedMemory => {
  const memory = memoryStore(options);
  const claims = new Map<TaskId, Claim>();
  /** Until when IDs that were removed stay taken. */
  const removed = new Map<TaskId, number>();
  const handles = new Set<{ notify(taskId: TaskId | undefined): void }>();

  return {
    open: () => {
      const listeners = new Set<(taskId: TaskId | undefined) => void>();
      let fault: StoreFault | undefined;
      const self = {
        notify: (taskId: TaskId | undefined): void => {
          if (fault !== "unavailable") for (const listener of [...listeners]) listener(taskId);
        },
      };
      handles.add(self);
      const notifyOthers = (taskId: TaskId): void => {
        for (const handle of handles) if (handle !== self) queueMicrotask(() => handle.notify(taskId));
      };
      const fail = (): never => {
        throw new BridgeError("unavailable", "the store is away");
      };
      const pass = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        if (fault === "unavailable") fail();
        const result = await work();
        if (fault === "loses answers") fail();
        return result;
      };
      const write = <Result>(taskId: TaskId, work: () => Promise<Result>): Promise<Result> =>
        pass(async () => {
          if (fault === "refuses writes") fail();
          const result = await work();
          notifyOthers(taskId);
          return result;
        });
      return {
        contract: 1,
        shared: true,
        now: memory.now,
        create: (record, created) =>
          write(record.taskId, () => {
            const { taskId } = record;
            if ((removed.get(taskId) ?? 0) > memory.now())
              throw new BridgeError("conflict", `taken by task ${taskId}`, { operation: "create", data: { taskId } });
            return memory.create(record, created);
          }),
        read: (taskId) => pass(() => memory.read(taskId)),
        revise: (record, expected, revised) => write(record.taskId, () => memory.revise(record, expected, revised)),
        remove: (taskId, expected) =>
          write(taskId, async () => {
            const wasThere = await memory.remove(taskId, expected);
            if (wasThere) removed.set(taskId, memory.now() + removedIdReservedMs);
            return wasThere;
          }),
        list: (scope, filter, cursor, limit) => pass(() => memory.list(scope, filter, cursor, limit)),
        due: (limit, claimForMs) =>
          pass(async () => {
            if (claimForMs === undefined) return memory.due(limit);
            const now = memory.now();
            const all = await memory.due(Number.MAX_SAFE_INTEGER);
            const isFree = ({ taskId, revision }: (typeof all)[number]): boolean => {
              const claim = claims.get(taskId);
              return claim === undefined || claim.until <= now || claim.revision !== revision;
            };
            const handed = all.filter(isFree).slice(0, limit);
            for (const { taskId, revision } of handed) claims.set(taskId, { revision, until: now + claimForMs });
            return handed;
          }),
        nextWakeAt: () => pass(() => memory.nextWakeAt()),
        findByExecution: (adapterId, by) => pass(() => memory.findByExecution(adapterId, by)),
        putPayload: (taskId, name, offset, bytes) => pass(() => memory.putPayload(taskId, name, offset, bytes)),
        readPayload: (taskId, name, range) => pass(() => memory.readPayload(taskId, name, range)),
        values: {
          read: (name) => pass(() => memory.values.read(name)),
          write: (name, value, previous) => pass(() => memory.values.write(name, value, previous)),
        },
        lease: (name, ttlMs) =>
          pass(async () => {
            const lease = await memory.lease(name, ttlMs);
            return lease && { renew: () => pass(() => lease.renew()), release: () => pass(() => lease.release()) };
          }),
        watch: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        close: async () => {
          handles.delete(self);
          listeners.clear();
        },
        fail: (how) => {
          fault = how;
        },
        reconnect: () => {
          fault = undefined;
          self.notify(undefined);
        },
      };
    },
  };
};
