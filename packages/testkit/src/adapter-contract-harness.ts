import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  type AnswerRequest,
  asStartKey,
  type BridgeErrorCode,
  type CallContext,
  type ExecutionQuestion,
  type ExecutionRef,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type InspectItem,
  type InspectOutcome,
  isBridgeError,
  isEnded,
  type JsonValue,
  type ReceiveRequest,
  type StartKey,
  type StartOutcome,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import { assertSnapshot } from "./adapter-contract-snapshot.ts";

/**
 * What the suite lets a backend run. `succeeds`, `fails`: soon, by themselves. `progresses`: reports progress, lives on
 * long enough for it to be seen, and succeeds. `asks`: one question, succeeds once it is accepted. `runs-until-cancelled`: ends no other
 * way. `large-output`: succeeds with an output that only `readOutput` gives.
 */
export type ContractTarget = "succeeds" | "fails" | "progresses" | "asks" | "runs-until-cancelled" | "large-output";

/** A freshly made adapter on a backend that the suite may use for one case. */
export interface AdapterUnderTest {
  readonly adapter: WorkflowAdapter;
  /** The target of that kind, as a user configures it. Kinds that need an unsupported verb are never asked for. */
  target(kind: ContractTarget): unknown;
  /** A ref of the right shape, of an execution that never was. */
  readonly unknownRef: ExecutionRef;
  /** What accepting the question of `asks` carries. Default: `{}` with a form, nothing with a decision. */
  readonly answerContent?: JsonValue;
  /** The output of a kind: the value of JSON, else the text. Compared where given. */
  expected?(kind: "succeeds" | "large-output"): JsonValue | undefined;
  /** How many executions this backend has really started since `open`. */
  journal?(): Promise<number>;
  /** From now on the backend takes requests and never answers. */
  stall?(): Promise<void>;
  /** A genuine webhook call about this execution. Needed with `receive`. */
  webhook?(key: StartKey, ref: ExecutionRef): Promise<ReceiveRequest>;
  close(): Promise<void>;
}

export interface HarnessLimits {
  readonly deadlineMs: number;
  readonly pauseMs: number;
  readonly inputs: readonly [string, string];
}

export interface StartOptions {
  readonly key?: StartKey;
  readonly input?: string;
  /** Above 1 it is told as sent a minute ago for the first time. */
  readonly attempt?: number;
}

/** One case's view of the adapter: verbs with their context filled in, and every snapshot checked on the way. */
export interface Harness {
  readonly adapter: WorkflowAdapter;
  readonly underTest: AdapterUnderTest;
  readonly limits: HarnessLimits;
  context(signal?: AbortSignal): CallContext;
  key(): StartKey;
  target(kind: ContractTarget): unknown;
  start(kind: ContractTarget, options?: StartOptions): Promise<StartOutcome>;
  inspect(items: readonly InspectItem[]): Promise<readonly InspectOutcome[]>;
  inspectOne(ref: ExecutionRef, want?: InspectItem["want"]): Promise<InspectOutcome>;
  /** Asks again and again until there is a result, and fails with what was seen last when the deadline passes. */
  until<T>(what: string, probe: () => Promise<{ readonly result: T } | { readonly seen: unknown }>): Promise<T>;
  /** The first snapshot that fits. */
  seen(
    ref: ExecutionRef,
    what: string,
    fits: (snapshot: ExecutionSnapshot) => boolean,
    want?: InspectItem["want"],
  ): Promise<ExecutionSnapshot>;
  ended(ref: ExecutionRef): Promise<ExecutionSnapshot>;
  question(ref: ExecutionRef): Promise<ExecutionQuestion>;
  answer(ref: ExecutionRef, question: ExecutionQuestion, change?: Partial<AnswerRequest>): Promise<void>;
  /** Fails unless exactly this many executions were started, where the backend has a journal. */
  assertStarted(count: number): Promise<void>;
  /** Listens until the case ends. */
  listen(cursor?: string): Promise<Listening>;
  dispose(): Promise<void>;
}

export interface Listening {
  readonly updates: readonly ExecutionUpdate[];
  readonly cursor: string | undefined;
  close(): Promise<void>;
}

/** A verb that the case's `needs` promise. */
export const verb = <T>(method: T | undefined): T => {
  assert.ok(method, "the verb is missing");
  return method;
};

/** Fails unless the promise rejects with a BridgeError, of one of these codes where given. */
export const assertRejects = async (promise: Promise<unknown>, ...codes: readonly BridgeErrorCode[]): Promise<void> => {
  const error: unknown = await promise.then(
    (value) =>
      assert.fail(
        `should reject${codes.length === 0 ? "" : ` with ${codes.join(" or ")}`}, resolved with ${JSON.stringify(value)}`,
      ),
    (reason: unknown) => reason,
  );
  if (error instanceof assert.AssertionError) throw error;
  assert.ok(isBridgeError(error), `rejections are BridgeErrors, got ${String(error)}`);
  if (codes.length > 0)
    assert.ok(codes.includes(error.code), `${codes.join(" or ")} was expected, got ${error.code}: ${error.message}`);
};

export const openHarness = async (underTest: AdapterUnderTest, limits: HarnessLimits): Promise<Harness> => {
  const { adapter } = underTest;
  const subscriptions: Listening[] = [];

  const harness: Harness = {
    adapter,
    underTest,
    limits,
    context: (signal = new AbortController().signal) => ({ signal, now: () => Date.now(), log: () => {} }),
    key: () => asStartKey(`mcp-${randomBytes(16).toString("hex")}`),
    // Frozen into a record and read again, as the engine does.
    target: (kind) => JSON.parse(JSON.stringify(adapter.parseTarget(underTest.target(kind)))),
    start: async (kind, { key = harness.key(), input = limits.inputs[0], attempt = 1 } = {}) => {
      const firstSentAt = attempt > 1 ? { firstSentAt: Date.now() - 60_000 } : {};
      const request = { key, target: harness.target(kind), input, attempt, ...firstSentAt };
      const outcome = await adapter.start(request, harness.context());
      assert.ok(
        typeof outcome.ref === "string" && outcome.ref !== "",
        `a ref is a text, got ${JSON.stringify(outcome.ref)}`,
      );
      if (outcome.snapshot !== undefined) assertSnapshot(outcome.snapshot);
      return outcome;
    },
    inspect: async (items) => {
      const outcomes = await verb(adapter.inspect)(items, harness.context());
      assert.equal(outcomes.length, items.length, "inspect gives one outcome for each item");
      for (const [index, outcome] of outcomes.entries()) {
        if ("snapshot" in outcome) assertSnapshot(outcome.snapshot, items[index]?.want);
        if ("error" in outcome) assert.ok(isBridgeError(outcome.error), "the error of an outcome is a BridgeError");
      }
      return outcomes;
    },
    inspectOne: async (ref, want = "status") => (await harness.inspect([{ ref, want }]))[0] as InspectOutcome,
    until: async (what, probe) => {
      const deadline = Date.now() + limits.deadlineMs;
      for (;;) {
        const now = await probe();
        if ("result" in now) return now.result;
        if (Date.now() > deadline)
          assert.fail(`${what}: not within ${limits.deadlineMs} ms, last seen ${JSON.stringify(now.seen)}`);
        await new Promise((resolve) => setTimeout(resolve, limits.pauseMs));
      }
    },
    seen: (ref, what, fits, want) =>
      harness.until(what, async () => {
        const outcome = await harness.inspectOne(ref, want);
        return "snapshot" in outcome && fits(outcome.snapshot) ? { result: outcome.snapshot } : { seen: outcome };
      }),
    ended: (ref) => harness.seen(ref, "the execution ends", (snapshot) => isEnded(snapshot.status)),
    question: async (ref) => {
      const waiting = await harness.seen(
        ref,
        "a question is open",
        (snapshot) => (snapshot.questions?.length ?? 0) > 0,
        "detail",
      );
      assert.equal(waiting.status, "waiting", "an execution with an open question is waiting");
      return waiting.questions?.[0] as ExecutionQuestion;
    },
    answer: (ref, question, change) => {
      const content = underTest.answerContent ?? (adapter.traits.questions === "form" ? {} : undefined);
      const accept = { action: "accept", ...(content === undefined ? {} : { content }) } as const;
      const request = {
        answerId: randomBytes(8).toString("hex"),
        attempt: 1,
        question,
        ...(change?.action === undefined ? accept : {}),
        ...change,
      };
      return verb(adapter.answer)(ref, request as AnswerRequest, harness.context());
    },
    assertStarted: async (count) => {
      if (underTest.journal !== undefined) assert.equal(await underTest.journal(), count, "executions really started");
    },
    listen: async (from) => {
      const listening = await listen(harness, from);
      subscriptions.push(listening);
      return listening;
    },
    dispose: async () => {
      for (const listening of subscriptions) await listening.close();
      await adapter.close?.();
      await underTest.close();
    },
  };
  return harness;
};

const listen = async (harness: Harness, from: string | undefined): Promise<Listening> => {
  const updates: ExecutionUpdate[] = [];
  let cursor = from;
  const kinds = ["succeeds", "fails"] as const;
  const subscription = await verb(harness.adapter.watch)(
    {
      targets: kinds.map((kind) => harness.target(kind)),
      ...(from === undefined ? {} : { cursor: from }),
      sink: async (event, next) => {
        for (const update of event) if (update.snapshot !== undefined) assertSnapshot(update.snapshot);
        updates.push(...event);
        cursor = next ?? cursor;
      },
      ended: () => {},
    },
    harness.context(),
  );
  return {
    updates,
    get cursor() {
      return cursor;
    },
    close: () => subscription.close(),
  };
};
