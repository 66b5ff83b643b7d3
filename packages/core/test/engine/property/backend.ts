import { type AdapterTraits, BridgeError, type CallContext, type WorkflowAdapter } from "../../../src/adapter.ts";
import {
  type FakeBackend,
  type FakeExecution,
  type FakeTarget,
  type FakeVerb,
  fakeAdapter,
} from "../../../src/testing.ts";
import type { Process, World } from "./world.ts";

/** What kind of backend a run is played on. */
export interface Setup {
  readonly start: "idempotent" | "idempotent for a while" | "findable" | "at-most-once";
  readonly cancel: AdapterTraits["cancel"];
  /** Executions can be looked at; without it there is only news. */
  readonly inspect: boolean;
  readonly watch: boolean;
  readonly find: boolean;
  readonly startsAs: "queued" | "running";
  readonly evolvingRefs: boolean;
  readonly startReportsState: boolean;
  readonly hidesDetail: boolean;
}

/** How long the engines wait for one call. */
export const callTimeoutMs = 5_000;

/** How one call goes wrong. Those that are slow take 3 seconds, and those that are too slow longer than the engine waits. */
export const faults = [
  "lost after acceptance",
  "lost before acceptance",
  "throttled, not sent",
  "unavailable",
  "denied",
  "hangs before acceptance",
  "hangs after acceptance",
  "slow to arrive",
  "too slow to arrive",
  "slow to answer",
  "too slow to answer",
] as const;
export type Fault = (typeof faults)[number];

export const faultyVerbs = [
  "start",
  "start",
  "inspect",
  "cancel",
  "answer",
  "find",
  "readOutput",
  "forget",
  "watch",
] as const;

/** The backend that all processes use, and the way to it. */
export interface Backend {
  readonly fake: FakeBackend;
  /** An adapter of one process. */
  connect(process: Process): WorkflowAdapter;
  strike(verb: FakeVerb, fault: Fault): void;
  clearFaults(): void;
  /** Whether its start arrived after the engine had given that send up: then nobody can be expected to know of it. */
  isStray(execution: FakeExecution): boolean;
  hasVanished(execution: FakeExecution): boolean;
  vanish(execution: FakeExecution, proven: boolean): void;
  reappear(execution: FakeExecution): void;
  /** Verbs that were denied once: what they were to do may rightly be given up. */
  readonly denied: ReadonlySet<FakeVerb>;
  /** Verbs of which a call went wrong, or may yet. */
  readonly struck: ReadonlySet<FakeVerb>;
}

const traitsOf = (setup: Setup): Partial<AdapterTraits> => ({
  start: {
    idempotent: { kind: "idempotent", forMs: null } as const,
    "idempotent for a while": { kind: "idempotent", forMs: 20_000 } as const,
    findable: { kind: "findable", visibilityDelayMs: 2_000, windowMs: 3_600_000 } as const,
    "at-most-once": { kind: "at-most-once" } as const,
  }[setup.start],
  cancel: setup.cancel,
  inspectBatch: 3,
});

const absentVerbs = (setup: Setup): Exclude<FakeVerb, "start">[] => [
  ...(setup.inspect ? [] : ["inspect" as const]),
  ...(setup.watch || !setup.inspect ? [] : ["watch" as const]),
  ...(setup.find || setup.start === "findable" ? [] : ["find" as const]),
  ...(setup.cancel === "none" ? ["cancel" as const] : []),
];

export const createTestBackend = (setup: Setup, world: World): Backend => {
  const location: Process = { name: "backend", state: "running" };
  const { backend: fake } = fakeAdapter({
    clock: world.clockOf(location),
    traits: traitsOf(setup),
    without: absentVerbs(setup),
    startsAs: setup.startsAs,
    evolvingRefs: setup.evolvingRefs,
    startReportsState: setup.startReportsState,
    hidesDetail: setup.hidesDetail,
    outputChunkBytes: 4,
  });
  const queues = new Map<FakeVerb, Fault[]>();
  const vanished = new Set<FakeExecution>();
  const gone = new Set<FakeExecution>();
  const strays = new Set<FakeExecution>();
  const isBrief = setup.start === "idempotent for a while";
  const denied = new Set<FakeVerb>();
  const struck = new Set<FakeVerb>();

  const call: Call = (process, verb, context, act) => {
    const sentAt = world.now();
    const arrive = async (used: CallContext) => {
      const before = fake.executions.length;
      const result = await act(used);
      if (verb === "start" && world.now() - sentAt > callTimeoutMs)
        for (const execution of fake.executions.slice(before)) strays.add(execution);
      return result;
    };
    const whole = (): ReturnType<typeof act> => {
      const fault = queues.get(verb)?.shift();
      if (fault === undefined) return arrive(context);
      // What was sent may arrive although nobody waits for it any more, unless the backend's promise leaves no time for that.
      const isLate = fault === "too slow to arrive" && !isBrief;
      const used = isLate ? { ...context, signal: new AbortController().signal } : context;
      return goWrong(world, process, verb, fault, context.signal, () => arrive(used));
    };
    // A process paused between its last look at the time and its send breaks this promise, and nothing can be done about it.
    return world.pass(process, whole, isBrief && verb === "start");
  };

  return {
    fake,
    denied,
    struck,
    connect: (process) => wrapAdapter(fake.connect() as WorkflowAdapter, process, call, world),
    strike: (verb, fault) => {
      struck.add(verb);
      if (fault === "denied") denied.add(verb);
      queues.set(verb, [...(queues.get(verb) ?? []), fault]);
    },
    clearFaults: () => queues.clear(),
    isStray: (execution) => strays.has(execution),
    hasVanished: (execution) => vanished.has(execution),
    vanish: (execution, proven) => {
      vanished.add(execution);
      if (proven) gone.add(execution);
      execution.vanish({ proven });
    },
    reappear: (execution) => {
      if (!execution.forgotten && !gone.has(execution)) execution.reappear();
    },
  };
};

type Call = <T>(
  process: Process,
  verb: FakeVerb,
  context: CallContext,
  act: (context: CallContext) => Promise<T>,
) => Promise<T>;

const wrapAdapter = (inner: WorkflowAdapter, process: Process, call: Call, world: World): WorkflowAdapter => {
  const { inspect, cancel, answer, heartbeat, find, watch, receive, readOutput, forget } = inner;
  return {
    contract: 1,
    kind: inner.kind,
    traits: inner.traits,
    parseTarget: inner.parseTarget,
    start: (request, context) => call(process, "start", context, (used) => inner.start(request, used)),
    ...(inspect && { inspect: (items, context) => call(process, "inspect", context, (used) => inspect(items, used)) }),
    ...(cancel && {
      cancel: (ref, reason, context) => call(process, "cancel", context, (used) => cancel(ref, reason, used)),
    }),
    ...(answer && {
      answer: (ref, request, context) => call(process, "answer", context, (used) => answer(ref, request, used)),
    }),
    ...(heartbeat && {
      heartbeat: (ref, question, context) =>
        call(process, "heartbeat", context, (used) => heartbeat(ref, question, used)),
    }),
    ...(find && { find: (request, context) => call(process, "find", context, (used) => find(request, used)) }),
    ...(watch && {
      watch: (request, context) =>
        call(process, "watch", context, (used) =>
          watch(
            {
              ...request,
              // Who never listened before hears everything from the beginning, as with a durable queue.
              cursor: request.cursor ?? "0",
              sink: (updates, cursor) => world.pass(process, () => request.sink(updates, cursor)),
            },
            used,
          ),
        ),
    }),
    ...(receive && {
      receive: (request, context) => call(process, "receive", context, (used) => receive(request, used)),
    }),
    ...(readOutput && {
      readOutput: (ref, range, context) => call(process, "readOutput", context, (used) => readOutput(ref, range, used)),
    }),
    ...(forget && { forget: (ref, context) => call(process, "forget", context, (used) => forget(ref, used)) }),
    close: async () => inner.close?.(),
  };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const goWrong = async <T>(
  world: World,
  process: Process,
  verb: FakeVerb,
  fault: Fault,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> => {
  const unknown = new BridgeError("outcome_unknown", `no answer to ${verb}`, { operation: verb });
  const slow = async (ms: number, first: boolean): Promise<T> => {
    if (!first) await world.pause(process, ms);
    const result = await act();
    if (first) await world.pause(process, ms);
    return result;
  };
  switch (fault) {
    case "lost after acceptance":
      await act();
      throw unknown;
    case "lost before acceptance":
      throw unknown;
    case "throttled, not sent":
      throw new BridgeError("throttled", "slow down", { operation: verb, notSent: true, retryAfterMs: 1_500 });
    case "unavailable":
      throw new BridgeError("unavailable", "try later", { operation: verb });
    case "denied":
      throw new BridgeError("denied", "the credentials do not allow this", { operation: verb });
    case "hangs before acceptance":
      await aborted(signal);
      throw unknown;
    case "hangs after acceptance":
      await act();
      await aborted(signal);
      throw unknown;
    case "slow to arrive":
      return slow(3_000, false);
    case "too slow to arrive":
      return slow(8_000, false);
    case "slow to answer":
      return slow(3_000, true);
    case "too slow to answer":
      return slow(8_000, true);
  }
};

export type { FakeTarget };
