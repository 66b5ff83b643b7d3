import { createHash } from "node:crypto";
import type { Subscription, WatchRequest, WorkflowAdapter } from "../../src/adapter.ts";
import {
  type Access,
  type AuditEvent,
  asTaskId,
  createTaskEngine,
  type JsonObject,
  type Limits,
  localOwner,
  type TaskEngine,
  type TaskEngineOptions,
  type TaskPolicy,
  type TaskRecord,
  type TaskView,
  type ToolDefinition,
} from "../../src/index.ts";
import { memoryStore } from "../../src/memory-store.ts";
import type { TaskStore } from "../../src/store.ts";
import { type FakeClock, fakeClock } from "../../src/testing/fake-clock.ts";
import { type SharedMemoryHandle, sharedMemory } from "../../src/testing/shared-memory.ts";
import { type FakeAdapterOptions, type FakeBackend, type FakeTarget, fakeAdapter } from "../../src/testing.ts";

/** One life of a server process: an engine that can be stopped and killed at any of its awaits. */
export interface Process {
  readonly engine: TaskEngine;
  /** As kill -9: whatever it awaits never comes back, and it touches nothing any more. */
  kill(): void;
  /** Kills it `count` awaits of store or backend from now: odd ones before the call, even ones after it took effect. */
  killAfter(count: number): void;
  readonly isKilled: boolean;
  /** How this process sees the store, where the world has `replicas`. */
  readonly handle: SharedMemoryHandle;
  /** As SIGSTOP: its awaits and timers come back only after `resume`. */
  pause(): void;
  resume(): void;
}

export interface World {
  readonly clock: FakeClock;
  readonly store: TaskStore;
  readonly backend: FakeBackend;
  /** What all processes have told, oldest first. */
  readonly audit: AuditEvent[];
  /** Another process on the same store and backend. */
  boot(options?: Partial<TaskEngineOptions>): Promise<Process>;
  /** The record as it is stored. */
  record(taskId: string): Promise<TaskRecord | undefined>;
  audited(kind: AuditEvent["kind"]): readonly AuditEvent[];
}

export interface WorldOptions {
  readonly adapter?: Omit<FakeAdapterOptions, "clock">;
  readonly task?: Partial<TaskPolicy>;
  readonly tool?: Partial<ToolDefinition>;
  readonly limits?: Partial<Limits>;
  readonly encryptionKey?: Uint8Array;
  /** Each process has a handle of its own to a store that says that it is shared, and tells of others' changes. */
  readonly replicas?: boolean;
  /** What is done to the store before every process uses it. */
  readonly wrapStore?: (store: TaskStore) => TaskStore;
}

export const mine: Access = { owner: localOwner };
export const stop = { reason: "enough", isFinal: false } as const;
export const finalStop = { reason: "enough", isFinal: true } as const;

/** A repeatable source of bytes. */
export const seededBytes = (seed: string): ((count: number) => Uint8Array) => {
  let drawn = 0;
  return (count) => {
    drawn++;
    return createHash("shake256", { outputLength: count }).update(`${seed}:${drawn}`).digest();
  };
};

export const createWorld = (options: WorldOptions = {}): World => {
  const clock = fakeClock();
  const shared = sharedMemory({ clock });
  const memory = options.replicas === true ? shared.open() : memoryStore({ clock });
  const store = options.wrapStore?.(memory) ?? memory;
  const { backend } = fakeAdapter({ ...options.adapter, clock });
  const audit: AuditEvent[] = [];
  let booted = 0;
  return {
    clock,
    store,
    backend,
    audit,
    boot: async (overrides = {}) => {
      booted++;
      const gate = createGate();
      const handle = shared.open();
      const engine = createTaskEngine({
        store: options.replicas === true ? { ...spread(gate.wrap(handle)), ...watching(handle) } : gate.wrap(store),
        adapters: { fake: wrapWatch(gate.wrap(backend.connect()), gate.onKill) },
        tools: [
          { name: "job", adapter: "fake", target: { run: "job" }, ...options.tool, task: options.task ?? {} },
          { name: "other", adapter: "fake", target: { run: "other" } },
        ],
        limits: options.limits ?? {},
        clock: {
          now: clock.now,
          schedule: (delayMs, action) => clock.schedule(delayMs, gate.timer(action)),
        },
        randomBytes: seededBytes(`process ${booted}`),
        audit: (event) => void (gate.isKilled || audit.push(event)),
        ...(options.encryptionKey === undefined ? {} : { encryptionKey: options.encryptionKey }),
        ...overrides,
      });
      await engine.open();
      await clock.settle();
      return Object.assign(gate, { engine, handle });
    },
    record: (taskId) => memory.read(asTaskId(taskId)),
    audited: (kind) => audit.filter((event) => event.kind === kind),
  };
};

/** Creates a task as the local owner, settling what its creation waits for without moving time. */
export const startTask = (
  { engine }: Pick<Process, "engine">,
  input: JsonObject = {},
  more: {
    readonly tool?: string;
    readonly retentionMs?: number;
    readonly signal?: AbortSignal;
    readonly origin?: string;
  } = {},
): Promise<TaskView> => engine.createTask({ tool: "job", input, owner: localOwner, ...more });

/** A promise whose rejection a test looks at later. */
export const attempted = <Value>(work: Promise<Value>): Promise<Value> => {
  work.catch(() => {});
  return work;
};

const never = new Promise<never>(() => {});

interface Gate {
  kill(): void;
  killAfter(count: number): void;
  pause(): void;
  resume(): void;
  readonly isKilled: boolean;
  /** Called when it is killed. */
  onKill(action: () => void): void;
  /** The same object, each asynchronous method of which passes the gate before and after. */
  wrap<Wrapped extends object>(target: Wrapped): Wrapped;
  timer(action: () => void): () => void;
}

const createGate = (): Gate => {
  let isKilled = false;
  let left = Number.POSITIVE_INFINITY;
  let resumed: Promise<void> | undefined;
  let resume: () => void = () => {};
  const atKill: (() => void)[] = [];
  const kill = (): void => {
    isKilled = true;
    for (const action of atKill) action();
  };
  const pass = async (): Promise<void> => {
    while (resumed !== undefined) await resumed;
    if (!isKilled && --left < 0) kill();
    if (isKilled) await never;
  };
  return {
    kill,
    killAfter: (count) => {
      left = count;
    },
    pause: () => {
      resumed ??= new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => {
      resumed = undefined;
      resume();
    },
    get isKilled() {
      return isKilled;
    },
    onKill: (action) => void atKill.push(action),
    wrap: (target) =>
      new Proxy(target, {
        get: (object, name) => {
          const member: unknown = Reflect.get(object, name);
          if (typeof member !== "function" || name === "now" || name === "parseTarget") return member;
          return async (...given: unknown[]) => {
            await pass();
            try {
              return await member.apply(object, given);
            } finally {
              await pass();
            }
          };
        },
      }),
    timer: (action) => () => {
      if (resumed !== undefined) void resumed.then(() => isKilled || action());
      else if (!isKilled) action();
    },
  };
};

/** A killed process neither takes news nor acknowledges it. */
const wrapWatch = (
  adapter: WorkflowAdapter<FakeTarget>,
  onKill: (action: () => void) => void,
): WorkflowAdapter<FakeTarget> => {
  if (adapter.watch === undefined) return adapter;
  let isKilled = false;
  onKill(() => {
    isKilled = true;
  });
  return {
    ...spread(adapter),
    watch: async (request: WatchRequest<FakeTarget>, context): Promise<Subscription> => {
      const sink: typeof request.sink = (updates, cursor) => (isKilled ? never : request.sink(updates, cursor));
      const ended: typeof request.ended = (error) => void (isKilled || request.ended(error));
      const subscription = (await adapter.watch?.({ ...request, sink, ended }, context)) as Subscription;
      onKill(() => void subscription.close());
      return subscription;
    },
  };
};

/** Not a call, so that no gate is passed. */
const watching = ({ watch }: TaskStore): Pick<TaskStore, "watch"> => (watch === undefined ? {} : { watch });

const spread = <Wrapped extends object>(wrapped: Wrapped): Wrapped =>
  Object.fromEntries(Object.keys(wrapped).map((name) => [name, Reflect.get(wrapped, name)])) as unknown as Wrapped;
