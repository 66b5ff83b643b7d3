import { type Clock, systemClock } from "@taskbridge/core";
import {
  type AdapterTraits,
  type AnswerRequest,
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import {
  type BackendControl,
  createBackend,
  type FakeBackend,
  signatureHeader,
  validSignature,
} from "./fake-adapter-backend.ts";
import type { ExecutionControl, FakeExecution, FakeTarget } from "./fake-adapter-execution.ts";
import { type FakeVerb, pause } from "./fake-adapter-faults.ts";

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

type OptionalVerbs = Pick<WorkflowAdapter<FakeTarget>, Exclude<FakeVerb, "start">>;

const createAdapter = (
  options: FakeAdapterOptions,
  control: BackendControl,
  clock: Clock,
): WorkflowAdapter<FakeTarget> => {
  const traits = { ...defaultTraits, ...options.traits };
  const { backend, faults, events } = control;
  const subscriptions = new Set<{ close(): Promise<void> }>();
  let closed = false;

  const call = <T>(
    verb: FakeVerb,
    keys: readonly string[],
    args: readonly unknown[],
    context: CallContext,
    act: () => T | Promise<T>,
  ): Promise<T> => {
    control.note(verb, keys, args);
    if (closed)
      return Promise.reject(
        new BridgeError("unavailable", "the adapter is closed", { operation: verb, notSent: true }),
      );
    return faults.apply(verb, context, act);
  };
  const keyOf = (ref: ExecutionRef): readonly string[] => {
    const known = control.byId(readRef(ref) ?? "");
    return known === undefined ? [] : [known.execution.key];
  };
  const require = (ref: ExecutionRef, operation: FakeVerb): ExecutionControl => {
    const known = control.byId(readRef(ref) ?? "");
    if (known === undefined || known.vanished !== undefined)
      throw new BridgeError("not_found", `no execution ${ref}`, { operation });
    return known;
  };
  const look = async (item: InspectItem, signal: AbortSignal): Promise<InspectOutcome> => {
    const id = readRef(item.ref);
    if (id === undefined)
      return {
        error: new BridgeError("invalid_input", `not a ref of this backend: ${item.ref}`, { operation: "inspect" }),
      };
    const known = control.byId(id);
    if (known === undefined) return { notFound: { proven: false, reason: `no execution ${id}` } };
    const scripted = known.takeInspect();
    if (scripted === "hang") {
      const timeoutMs = options.itemTimeoutMs ?? 1_000;
      await pause(clock, timeoutMs, signal);
      return { unavailable: `no answer within ${timeoutMs} ms` };
    }
    if (scripted !== undefined) return scripted;
    if (known.vanished !== undefined) return { notFound: known.vanished };
    const snapshot = known.snapshotAt(clock.now() - backend.staleMs);
    if (snapshot === undefined) return { notFound: { proven: false, reason: `execution ${id} is not seen yet` } };
    const evolved = known.execution.ref === item.ref ? {} : { ref: known.execution.ref };
    return {
      snapshot: item.want === "status" && options.hidesDetail === true ? withoutDetail(snapshot) : snapshot,
      ...evolved,
    };
  };

  const verbs: OptionalVerbs = {
    inspect: (items, context) =>
      call(
        "inspect",
        items.flatMap((item) => keyOf(item.ref)),
        [items],
        context,
        () => {
          if (items.length > traits.inspectBatch)
            throw new BridgeError("invalid_input", `${items.length} items, at most ${traits.inspectBatch}`);
          return Promise.all(items.map((item) => look(item, context.signal)));
        },
      ),
    cancel: (ref, reason, context) =>
      call("cancel", keyOf(ref), [ref, reason], context, () => {
        const known = require(ref, "cancel");
        if (isEnded(known.execution.snapshot.status)) return;
        known.noteCancel(reason);
        if (options.onCancel !== undefined) options.onCancel(known.execution, reason);
        else if (traits.cancel === "confirmed") known.execution.stop(reason);
      }),
    answer: (ref, request, context) =>
      call("answer", keyOf(ref), [ref, request], context, () =>
        require(ref, "answer").answer(request, options.onAnswer ?? (() => {})),
      ),
    heartbeat: (ref, question, context) =>
      call("heartbeat", keyOf(ref), [ref, question], context, () => require(ref, "heartbeat").beat(question)),
    find: (request, context) =>
      call("find", [request.key], [request], context, () => {
        const known = control.byKey(request.key);
        const seenSince = clock.now() - Math.max(backend.staleMs, options.findableAfterMs ?? 0);
        if (known === undefined || known.vanished !== undefined || known.execution.acceptedAt > seenSince)
          return undefined;
        return known.execution.ref;
      }),
    watch: (request, context) =>
      call("watch", [], [request], context, () => {
        const subscription = events.subscribe(request);
        subscriptions.add(subscription);
        return subscription;
      }),
    receive: (request, context) =>
      call("receive", [], [request], context, () => readWebhook(request.headers[signatureHeader], request.rawBody)),
    readOutput: (ref, range, context) =>
      call("readOutput", keyOf(ref), [ref, range], context, () => {
        const { content } = require(ref, "readOutput");
        if (content === undefined)
          throw new BridgeError("not_found", `${ref} has no output to read`, { operation: "readOutput" });
        const length = Math.min(range.length, options.outputChunkBytes ?? range.length);
        return { bytes: content.slice(range.offset, range.offset + length), totalBytes: content.length };
      }),
    forget: (ref, context) =>
      call("forget", keyOf(ref), [ref], context, () => {
        const known = control.byId(readRef(ref) ?? "");
        if (known !== undefined) control.forget(known);
      }),
    discover: async function* (filter, context) {
      const names = Object.keys(options.scripts ?? {}).filter((name) => name.includes(filter ?? ""));
      yield* await call("discover", [], [filter], context, () =>
        names.map((name) => ({ name, target: { run: name } })),
      );
    },
    check: (targets, context) =>
      call("check", [], [targets], context, () =>
        targets.map((target) => ({ level: "ok" as const, path: "run", message: `${target.run} can be run` })),
      ),
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

/** The ID in a ref of either shape, or undefined for a foreign text. */
const readRef = (ref: string): string | undefined => {
  try {
    const parsed: { run?: unknown; queued?: unknown } | null = JSON.parse(ref);
    const id = parsed?.run ?? parsed?.queued;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
};

const readWebhook = (signature: string | undefined, rawBody: Uint8Array): readonly ExecutionUpdate[] => {
  if (signature !== validSignature)
    throw new BridgeError("denied", "the webhook's signature is wrong", { operation: "receive" });
  try {
    const body: { updates: readonly ExecutionUpdate[] } = JSON.parse(new TextDecoder().decode(rawBody));
    return body.updates;
  } catch (cause) {
    throw new BridgeError("invalid_input", "the webhook's body is not JSON", { operation: "receive", cause });
  }
};

const withoutDetail = (snapshot: ExecutionSnapshot): ExecutionSnapshot => {
  const { questions: _questions, progress: _progress, children: _children, logTail: _logTail, ...rest } = snapshot;
  return rest.status === "waiting" ? { ...rest, status: "running" } : rest;
};
