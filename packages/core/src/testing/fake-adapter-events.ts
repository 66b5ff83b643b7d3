import type { BridgeError, ExecutionUpdate, Subscription, WatchRequest } from "../adapter.ts";
import type { FakeTarget } from "./fake-adapter-execution.ts";

/** What the fake backend tells those who watch it. */
export interface FakeEvents {
  /** Everything that was ever told, in order. The cursor of an event is its index in this list plus one. */
  readonly log: readonly ExecutionUpdate[];
  /** Keeps new events back. */
  hold(): void;
  /** Delivers what was kept back, and everything that comes. */
  release(): void;
  /** Delivers these now, and only to those who watch: repeated, out of order or made up. */
  send(...updates: readonly ExecutionUpdate[]): void;
  /** Ends every subscription by itself. */
  end(error: BridgeError): void;
  /** Resolves once every sink has taken what was delivered. Rejections of sinks count as taken. */
  settled(): Promise<void>;
  /** Rejections of sinks. */
  readonly refusals: readonly unknown[];
}

export interface EventLog extends FakeEvents {
  record(update: ExecutionUpdate): void;
  subscribe(request: WatchRequest<FakeTarget>): Subscription;
}

interface Listener {
  readonly request: WatchRequest<FakeTarget>;
  position: number;
  work: Promise<void>;
  closed: boolean;
}

export const createEventLog = (): EventLog => {
  const log: ExecutionUpdate[] = [];
  const refusals: unknown[] = [];
  const listeners = new Set<Listener>();
  let held = false;

  const hand = (listener: Listener, updates: readonly ExecutionUpdate[], cursor?: string): void => {
    listener.work = listener.work.then(async () => {
      if (listener.closed) return;
      await listener.request.sink(updates, cursor).catch((error: unknown) => {
        refusals.push(error);
      });
    });
  };
  const pump = (): void => {
    if (held) return;
    for (const listener of listeners) {
      while (listener.position < log.length) {
        const update = log[listener.position++];
        if (update !== undefined) hand(listener, [update], String(listener.position));
      }
    }
  };

  return {
    log,
    refusals,
    hold: () => {
      held = true;
    },
    release: () => {
      held = false;
      pump();
    },
    send: (...updates) => {
      for (const listener of listeners) hand(listener, updates);
    },
    end: (error) => {
      for (const listener of listeners) {
        listener.closed = true;
        listener.request.ended(error);
      }
      listeners.clear();
    },
    settled: async () => {
      await Promise.all([...listeners].map((listener) => listener.work));
    },
    record: (update) => {
      log.push(update);
      pump();
    },
    subscribe: (request) => {
      const position = request.cursor === undefined ? log.length : Number(request.cursor);
      const listener: Listener = { request, position, work: Promise.resolve(), closed: false };
      listeners.add(listener);
      pump();
      return {
        close: async () => {
          listener.closed = true;
          listeners.delete(listener);
          await listener.work;
        },
      };
    },
  };
};
