import {
  type AdapterTraits,
  type AnswerRequest,
  BridgeError,
  type Subscription,
  type WorkflowAdapter,
} from "../adapter.ts";
import { type Clock, systemClock } from "../contract/clock.ts";
import { type BackendControl, createBackend, type FakeBackend } from "./fake-adapter-backend.ts";
import type { FakeExecution, FakeTarget } from "./fake-adapter-execution.ts";
import type { FakeVerb } from "./fake-adapter-faults.ts";
import {
  type Call,
  keysOf,
  listeningVerbs,
  type OptionalVerbs,
  readingVerbs,
  writingVerbs,
} from "./fake-adapter-verbs.ts";

export interface FakeAdapterOptions {
  /** Time of the backend and of every delay. Default: the machine's. */
  readonly clock?: Clock;
  /** Overrides of the defaults: idempotent for ever, confirmed cancel, forms, counted progress, batches of 100, no limits. */
  readonly traits?: Partial<AdapterTraits>;
  /** Verbs that this backend lacks. */
  readonly without?: readonly Exclude<FakeVerb, "start">[];
  /** What executions do by themselves, by the target's `run`. Called once, when the backend accepts the start. */
  readonly scripts?: Readonly<Record<string, (execution: FakeExecution) => void>>;
  /** The script of every other target. Default: nothing, the test moves the execution. */
  readonly onStart?: (execution: FakeExecution) => void;
  /**
   * What a cancel does that finds the execution not ended. Default: it ends as cancelled when `traits.cancel` is
   * `confirmed`, and otherwise goes on until the test says so.
   */
  readonly onCancel?: (execution: FakeExecution, reason: string) => void;
  /** Called when a new answer arrives, before its question closes. Throwing refuses it. */
  readonly onAnswer?: (execution: FakeExecution, request: AnswerRequest) => void;
  /** Default `running`. */
  readonly startsAs?: "queued" | "running";
  /** The ref changes when the execution leaves `queued`. Default false. */
  readonly evolvingRefs?: boolean;
  /** `want: "status"` tells neither questions nor progress, and `running` for `waiting`. Default false. */
  readonly hidesDetail?: boolean;
  /** What events say beside the fact that something changed. Default: everything. */
  readonly eventsCarry?: { readonly key?: boolean; readonly ref?: boolean; readonly snapshot?: boolean };
  /** `find` sees an execution this long after its start (milliseconds). Default 0. */
  readonly findableAfterMs?: number;
  /** One look-up that hangs is given up after this long (milliseconds), the others of its batch are answered with it. Default 1,000. */
  readonly itemTimeoutMs?: number;
  /** `readOutput` gives at most this many bytes at once. Default: what was asked for. */
  readonly outputChunkBytes?: number;
  /** The answer of `start` also tells the state. Default true. */
  readonly startTellsState?: boolean;
}

const defaultTraits: AdapterTraits = {
  start: { kind: "idempotent", forMs: null },
  cancel: "confirmed",
  minInspectIntervalMs: 0,
  mustInspectWithinMs: null,
  inspectBatch: 100,
  maxPayloadBytes: null,
  retentionMs: null,
  hostBound: false,
  questions: "form",
  progress: "counted",
};

/** A backend in memory and an adapter on it. Everything that can happen at a backend, or go wrong on the way, is at the test's command. */
export const fakeAdapter = (
  options: FakeAdapterOptions = {},
): { readonly adapter: WorkflowAdapter<FakeTarget>; readonly backend: FakeBackend } => {
  const clock = options.clock ?? systemClock;
  const control = createBackend(options, clock);
  const connect = (): WorkflowAdapter<FakeTarget> => createAdapter(options, control, clock);
  // Not a spread: `staleMs` and the counters must stay live.
  const backend: FakeBackend = Object.assign(control.backend, { connect });
  return { adapter: connect(), backend };
};

const createAdapter = (
  options: FakeAdapterOptions,
  control: BackendControl,
  clock: Clock,
): WorkflowAdapter<FakeTarget> => {
  const traits = { ...defaultTraits, ...options.traits };
  const subscriptions = new Set<Subscription>();
  let closed = false;

  const call: Call = (verb, about, args, context, act) => {
    control.note(verb, typeof about === "string" ? keysOf(control, [about]) : about, args);
    if (closed)
      return Promise.reject(
        new BridgeError("unavailable", "the adapter is closed", { operation: verb, notSent: true }),
      );
    return control.faults.apply(verb, context, act);
  };
  const verbs: OptionalVerbs = {
    ...readingVerbs(options, control, clock, traits, call),
    ...writingVerbs(options, control, traits, call),
    ...listeningVerbs(control, subscriptions, call),
  };
  for (const verb of options.without ?? []) delete verbs[verb];

  return {
    contract: 1,
    kind: "fake",
    traits,
    parseTarget: parseFakeTarget,
    start: (request, context) =>
      call("start", [request.key], [request], context, () => {
        if (traits.maxPayloadBytes !== null && Buffer.byteLength(request.input) > traits.maxPayloadBytes) {
          throw new BridgeError("invalid_input", `input: at most ${traits.maxPayloadBytes} bytes`, {
            operation: "start",
            notSent: true,
          });
        }
        const { ref, snapshot } = control.accept(request);
        return { ref, ...((options.startTellsState ?? true) ? { snapshot } : {}) };
      }),
    ...verbs,
    close: async () => {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      subscriptions.clear();
    },
  };
};

const parseFakeTarget = (target: unknown): FakeTarget => {
  const refuse = (path: string, message: string): BridgeError =>
    new BridgeError("misconfigured", `${path}${message}`, { data: { path } });
  if (typeof target !== "object" || target === null || Array.isArray(target))
    throw refuse("", `an object is needed, got ${JSON.stringify(target)}`);
  const { run, ...rest } = target as Record<string, unknown>;
  if (typeof run !== "string" || run === "") throw refuse("run", `: a name is needed, got ${JSON.stringify(run)}`);
  return { ...(JSON.parse(JSON.stringify(rest)) as Omit<FakeTarget, "run">), run };
};
