import type { Lease, TaskStore } from "@taskbridge/core/store";

/** How often each verb was called. */
export type Calls = Readonly<Record<string, number>>;

export interface CountedStore {
  readonly store: TaskStore;
  /** The calls since the last time. */
  take(): Calls;
}

/** The same store, with a tally of what it is asked. Leases' own verbs are `renew` and `release`. */
export const countedStore = (store: TaskStore): CountedStore => {
  let tally = new Map<string, number>();
  const count = (verb: string): void => void tally.set(verb, (tally.get(verb) ?? 0) + 1);
  const counted =
    <Given extends unknown[], Result>(verb: string, call: (...given: Given) => Result) =>
    (...given: Given): Result => {
      count(verb);
      return call(...given);
    };
  const countedLease = (lease: Lease): Lease => ({
    renew: counted("renew", lease.renew),
    release: counted("release", lease.release),
  });
  return {
    store: {
      ...store,
      create: counted("create", store.create),
      read: counted("read", store.read),
      revise: counted("revise", store.revise),
      remove: counted("remove", store.remove),
      list: counted("list", store.list),
      due: counted("due", store.due),
      nextWakeAt: counted("nextWakeAt", store.nextWakeAt),
      findByExecution: counted("findByExecution", store.findByExecution),
      putPayload: counted("putPayload", store.putPayload),
      readPayload: counted("readPayload", store.readPayload),
      values: {
        read: counted("values.read", store.values.read),
        write: counted("values.write", store.values.write),
      },
      lease: counted("lease", async (name, ttlMs) => {
        const lease = await store.lease(name, ttlMs);
        return lease && countedLease(lease);
      }),
    },
    take: () => {
      const taken = Object.fromEntries(tally);
      tally = new Map();
      return taken;
    },
  };
};
