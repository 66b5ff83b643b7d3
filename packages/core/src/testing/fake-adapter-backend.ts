import {
  BridgeError,
  type ExecutionUpdate,
  type ReceiveRequest,
  type StartKey,
  type StartRequest,
  type WorkflowAdapter,
} from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";
import { createEventLog, type EventLog, type FakeEvents } from "./fake-adapter-events.ts";
import {
  createExecution,
  type ExecutionControl,
  type FakeExecution,
  type FakeTarget,
} from "./fake-adapter-execution.ts";
import { createFaultQueue, type FakeFaults, type FakeVerb, type FaultQueue } from "./fake-adapter-faults.ts";
import type { FakeAdapterOptions } from "./fake-adapter-options.ts";

/** One call of a verb, noted before any fault strikes it. */
export interface FakeCall {
  readonly verb: FakeVerb;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Start keys of the executions it is about, as far as they are known. */
  readonly keys: readonly string[];
  /** The arguments before the context. */
  readonly args: readonly unknown[];
}

/** The backend behind a fake adapter: what really happened there, and the levers. */
export interface FakeBackend {
  /** All executions that were ever really started, oldest first. */
  readonly executions: readonly FakeExecution[];
  /** The newest execution with this start key, or the newest of all. Throws when there is none. */
  of(key?: string): FakeExecution;
  /** How many executions were really started, under this key or in all. */
  starts(key?: string): number;
  readonly calls: readonly FakeCall[];
  callsOf(verb: FakeVerb): readonly FakeCall[];
  readonly faults: FakeFaults;
  readonly events: FakeEvents;
  /** Look-ups and `find` tell what was true this many milliseconds ago. */
  staleMs: number;
  vanishAll(how?: { readonly proven?: boolean; readonly reason?: string }): void;
  /** A webhook call that `receive` accepts; `signed: false` makes one that it refuses. */
  webhook(updates: readonly ExecutionUpdate[], options?: { readonly signed?: boolean }): ReceiveRequest;
  /** One more adapter on the same backend, as another replica of a server has it. */
  connect(): WorkflowAdapter<FakeTarget>;
}

export const signatureHeader = "x-fake-signature";
export const validSignature = "signed";

/** What the verbs see of the backend. */
export interface BackendControl {
  readonly backend: Omit<FakeBackend, "connect">;
  readonly faults: FaultQueue;
  readonly events: EventLog;
  note(verb: FakeVerb, keys: readonly string[], args: readonly unknown[]): void;
  accept(request: StartRequest<FakeTarget>): FakeExecution;
  byId(id: string): ExecutionControl | undefined;
  byKey(key: StartKey): ExecutionControl | undefined;
  forget(control: ExecutionControl): void;
}

export const createBackend = (options: FakeAdapterOptions, clock: Clock): BackendControl => {
  const controls: ExecutionControl[] = [];
  const byId = new Map<string, ExecutionControl>();
  const deduplicated = new Map<StartKey, ExecutionControl>();
  const calls: FakeCall[] = [];
  const faults = createFaultQueue(clock);
  const events = createEventLog();
  const carry = { key: true, ref: true, snapshot: true, ...options.eventsCarry };

  const report = ({ execution }: ExecutionControl): void =>
    events.record({
      ...(carry.key ? { key: execution.key } : {}),
      ...(carry.ref ? { ref: execution.ref } : {}),
      ...(carry.snapshot ? { snapshot: execution.snapshot } : {}),
    });
  const begin = (request: StartRequest<FakeTarget>): ExecutionControl => {
    const { key, target, input } = request;
    const seed = {
      id: `run-${controls.length + 1}`,
      key,
      target,
      input,
      startsAs: options.startsAs ?? "running",
      evolvingRef: options.evolvingRefs ?? false,
    };
    const control = createExecution(seed, clock, report);
    controls.push(control);
    byId.set(seed.id, control);
    return control;
  };
  const backend: BackendControl["backend"] = {
    get executions() {
      return controls.map((control) => control.execution);
    },
    of: (key) => {
      const found = controls.findLast(({ execution }) => key === undefined || execution.key === key);
      if (found === undefined) throw new Error(`no execution was started${key === undefined ? "" : ` under ${key}`}`);
      return found.execution;
    },
    starts: (key) => controls.filter(({ execution }) => key === undefined || execution.key === key).length,
    calls,
    callsOf: (verb) => calls.filter((call) => call.verb === verb),
    faults,
    events,
    staleMs: 0,
    vanishAll: (how) => {
      for (const { execution } of controls) execution.vanish(how);
    },
    webhook: (updates, { signed = true } = {}) => ({
      headers: signed ? { [signatureHeader]: validSignature } : {},
      query: {},
      rawBody: new TextEncoder().encode(JSON.stringify({ updates })),
    }),
  };
  return {
    backend,
    faults,
    events,
    note: (verb, keys, args) => {
      calls.push({ verb, at: clock.now(), keys, args });
    },
    accept: (request) => {
      const promise = options.traits?.start ?? { kind: "idempotent", forMs: null };
      const known = deduplicated.get(request.key);
      if (promise.kind === "idempotent" && known !== undefined) {
        if (promise.forMs === null || known.execution.acceptedAt + promise.forMs > clock.now())
          return sameStart(known.execution, request);
      }
      const control = begin(request);
      deduplicated.set(request.key, control);
      (options.scripts?.[request.target.run] ?? options.onStart)?.(control.execution);
      return control.execution;
    },
    byId: (id) => byId.get(id),
    byKey: (key) => controls.findLast(({ execution }) => execution.key === key),
    forget: (control) => {
      control.forget();
      if (deduplicated.get(control.execution.key) === control) deduplicated.delete(control.execution.key);
    },
  };
};

const sameStart = (execution: FakeExecution, request: StartRequest<FakeTarget>): FakeExecution => {
  if (execution.input === request.input && JSON.stringify(execution.target) === JSON.stringify(request.target))
    return execution;
  throw new BridgeError("conflict", `${request.key} was started with another input`, { operation: "start" });
};
