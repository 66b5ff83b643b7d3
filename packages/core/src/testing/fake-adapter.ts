import { type AdapterTraits, BridgeError, type Subscription, type WorkflowAdapter } from "../adapter.ts";
import { type Clock, systemClock } from "../contract/clock.ts";
import { type BackendControl, createBackend, type FakeBackend } from "./fake-adapter-backend.ts";
import type { FakeTarget } from "./fake-adapter-execution.ts";
import type { FakeAdapterOptions } from "./fake-adapter-options.ts";
import {
  type Call,
  keysOf,
  listeningVerbs,
  type OptionalVerbs,
  readingVerbs,
  writingVerbs,
} from "./fake-adapter-verbs.ts";

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
        return { ref, ...((options.startReportsState ?? true) ? { snapshot } : {}) };
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
