import {
  type AdapterTraits,
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  type Subscription,
  type WorkflowAdapter,
} from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";
import { type BackendControl, signatureHeader, validSignature } from "./fake-adapter-backend.ts";
import type { ExecutionControl, FakeTarget } from "./fake-adapter-execution.ts";
import { type FakeVerb, pause } from "./fake-adapter-faults.ts";
import type { FakeAdapterOptions } from "./fake-adapter-options.ts";

export type OptionalVerbs = Pick<WorkflowAdapter<FakeTarget>, Exclude<FakeVerb, "start">>;

/** Makes one call of a verb: notes it, lets its fault strike, and has the backend act. */
export type Call = <T>(
  verb: FakeVerb,
  about: readonly string[] | ExecutionRef,
  args: readonly unknown[],
  context: CallContext,
  act: () => T | Promise<T>,
) => Promise<T>;

export const keysOf = (control: BackendControl, refs: readonly ExecutionRef[]): readonly string[] =>
  refs.flatMap((ref) => control.byId(readRef(ref) ?? "")?.execution.key ?? []);

const requireExecution = (control: BackendControl, ref: ExecutionRef, operation: FakeVerb): ExecutionControl => {
  const known = control.byId(readRef(ref) ?? "");
  if (known === undefined || known.vanished !== undefined)
    throw new BridgeError("not_found", `no execution ${ref}`, { operation });
  return known;
};

export const readingVerbs = (
  options: FakeAdapterOptions,
  control: BackendControl,
  clock: Clock,
  traits: AdapterTraits,
  call: Call,
): Pick<OptionalVerbs, "inspect" | "find" | "readOutput" | "discover" | "check"> => ({
  inspect: (items, context) =>
    call(
      "inspect",
      keysOf(
        control,
        items.map(({ ref }) => ref),
      ),
      [items],
      context,
      () => {
        if (items.length > traits.inspectBatch)
          throw new BridgeError("invalid_input", `${items.length} items, at most ${traits.inspectBatch}`);
        return Promise.all(items.map((item) => lookup(options, control, clock, item, context.signal)));
      },
    ),
  find: (request, context) =>
    call("find", [request.key], [request], context, () => {
      const known = control.byKey(request.key);
      const seenSince = clock.now() - Math.max(control.backend.staleMs, options.findableAfterMs ?? 0);
      const visible = known !== undefined && known.vanished === undefined && known.execution.acceptedAt <= seenSince;
      return visible ? known.execution.ref : undefined;
    }),
  readOutput: (ref, range, context) =>
    call("readOutput", ref, [ref, range], context, () => {
      const { content } = requireExecution(control, ref, "readOutput");
      if (content === undefined)
        throw new BridgeError("not_found", `${ref} has no output to read`, { operation: "readOutput" });
      const length = Math.min(range.length, options.outputChunkBytes ?? range.length);
      return { bytes: content.slice(range.offset, range.offset + length), totalBytes: content.length };
    }),
  discover: async function* (filter, context) {
    const names = Object.keys(options.scripts ?? {}).filter((name) => name.includes(filter ?? ""));
    yield* await call("discover", [], [filter], context, () => names.map((name) => ({ name, target: { run: name } })));
  },
  check: (targets, context) =>
    call("check", [], [targets], context, () =>
      targets.map(({ run }) => ({ level: "ok" as const, path: "run", message: `${run} can be run` })),
    ),
});

const lookup = async (
  options: FakeAdapterOptions,
  control: BackendControl,
  clock: Clock,
  item: InspectItem,
  signal: AbortSignal,
): Promise<InspectOutcome> => {
  const id = readRef(item.ref);
  if (id === undefined)
    return {
      error: new BridgeError("invalid_input", `not a ref of this backend: ${item.ref}`, { operation: "inspect" }),
    };
  const known = control.byId(id);
  if (known === undefined) return { notFound: { proven: false, reason: `no execution ${id}` } };
  const scripted = known.nextScriptedInspect();
  if (scripted === "hang") {
    const timeoutMs = options.itemTimeoutMs ?? 1_000;
    await pause(clock, timeoutMs, signal);
    return { unavailable: `no answer within ${timeoutMs} ms` };
  }
  if (scripted !== undefined) return scripted;
  if (known.vanished !== undefined) return { notFound: known.vanished };
  const snapshot = known.timeline.at(clock.now() - control.backend.staleMs);
  if (snapshot === undefined) return { notFound: { proven: false, reason: `execution ${id} is not seen yet` } };
  const evolved = known.execution.ref === item.ref ? {} : { ref: known.execution.ref };
  return {
    snapshot: item.want === "status" && options.hidesDetail === true ? withoutDetail(snapshot) : snapshot,
    ...evolved,
  };
};

export const writingVerbs = (
  options: FakeAdapterOptions,
  control: BackendControl,
  traits: AdapterTraits,
  call: Call,
): Pick<OptionalVerbs, "cancel" | "answer" | "heartbeat" | "forget"> => ({
  cancel: (ref, reason, context) =>
    call("cancel", ref, [ref, reason], context, () => {
      const { execution, noteCancel } = requireExecution(control, ref, "cancel");
      if (isEnded(execution.snapshot.status)) return;
      noteCancel(reason);
      if (options.onCancel !== undefined) options.onCancel(execution, reason);
      else if (traits.cancel === "confirmed") execution.stop(reason);
    }),
  answer: (ref, request, context) =>
    call("answer", ref, [ref, request], context, () => {
      const { execution, questions } = requireExecution(control, ref, "answer");
      questions.answer(request, () => options.onAnswer?.(execution, request));
    }),
  heartbeat: (ref, question, context) =>
    call("heartbeat", ref, [ref, question], context, () =>
      requireExecution(control, ref, "heartbeat").questions.beat(question),
    ),
  forget: (ref, context) =>
    call("forget", ref, [ref], context, () => {
      const known = control.byId(readRef(ref) ?? "");
      if (known !== undefined) control.forget(known);
    }),
});

export const listeningVerbs = (
  control: BackendControl,
  subscriptions: Set<Subscription>,
  call: Call,
): Pick<OptionalVerbs, "watch" | "receive"> => ({
  watch: (request, context) =>
    call("watch", [], [request], context, () => {
      const subscription = control.events.subscribe(request);
      subscriptions.add(subscription);
      return subscription;
    }),
  receive: (request, context) =>
    call("receive", [], [request], context, () => readWebhook(request.headers[signatureHeader], request.rawBody)),
});

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
  const { questions: _questions, progress: _progress, children: _children, ...rest } = snapshot;
  return rest.status === "waiting" ? { ...rest, status: "running" } : rest;
};
