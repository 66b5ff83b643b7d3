import {
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  type OutputChunk,
  type OutputRange,
  type StartKey,
  type StartOutcome,
  type StartRequest,
  type Subscription,
  toBridgeError,
  type WatchRequest,
  within,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Machines } from "../machines.ts";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";
import { prepareStart } from "../starts/prepare-start.ts";
import { toMissing } from "../starts/to-missing.ts";
import { awaitRun, type RunEnd } from "./await-run.ts";
import { parseExpressRef, toExpressRef } from "./express-ref.ts";

/** An Express execution takes five minutes at most; with as much more as clocks and networks need (milliseconds). */
const maxMs = 6 * 60_000;
/** How long an end is kept for those who look (milliseconds). */
const keptMs = 15 * 60_000;

export interface ExpressWaits {
  /** How long a start waits for a refusal or a quick end, before it is taken for accepted (milliseconds). */
  readonly startMs: number;
  /** How long those who stop listening wait for the ends of what runs (milliseconds): within the engine's `closeGraceMs`. */
  readonly closeMs: number;
}

export interface ExpressRuns {
  start(request: StartRequest<StepFunctionsTarget>, context: CallContext): Promise<StartOutcome>;
  inspect(items: readonly InspectItem[], context: CallContext): Promise<readonly InspectOutcome[]>;
  watch(request: WatchRequest<StepFunctionsTarget>): Promise<Subscription>;
  readOutput(ref: ExecutionRef, range: OutputRange): Promise<OutputChunk>;
}

type Sink = WatchRequest<unknown>["sink"];

/** An execution that this process awaits. */
interface Run {
  readonly key: StartKey;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly ended: Promise<RunEnd>;
  end: RunEnd | undefined;
  /** Its start was answered before it had ended, so that its end is news. */
  isAccepted: boolean;
}

const toSnapshot = (outcome: InspectOutcome): { readonly snapshot?: ExecutionSnapshot } =>
  "snapshot" in outcome ? { snapshot: outcome.snapshot } : {};

const notifySinks = async (
  run: Run,
  { outcome }: RunEnd,
  sinks: ReadonlySet<Sink>,
  log: CallContext["log"],
): Promise<void> => {
  const update = { key: run.key, ref: toExpressRef(run), ...toSnapshot(outcome) };
  const deliveries = await Promise.allSettled([...sinks].map((sink) => sink([update])));
  // The next look tells it.
  for (const one of deliveries)
    if (one.status === "rejected")
      log("warn", `an end was not written down at once: ${toBridgeError(one.reason).message}`);
};

/** Of what this process does not await: perhaps another process of this server does, and tells its end. */
const elsewhere = (startedAt: number, now: number): InspectOutcome => {
  if (now - startedAt >= maxMs) {
    const reason = "the process that awaited it has ended, and AWS lets nobody ask for an Express execution";
    return { notFound: { proven: true, reason } };
  }
  const progress = { message: "awaited by another process, if that still runs" };
  return { snapshot: { status: "running", startedAt, progress } };
};

const inspectOne = (runs: ReadonlyMap<string, Run>, ref: ExecutionRef, now: number): InspectOutcome => {
  try {
    const { key, startedAt } = parseExpressRef(ref);
    const run = runs.get(key);
    if (run?.startedAt !== startedAt) return elsewhere(startedAt, now);
    return run.end?.outcome ?? { snapshot: { status: "running", startedAt } };
  } catch (error) {
    return { error: toBridgeError(error) };
  }
};

const forgetOld = (runs: Map<string, Run>, now: number): void => {
  for (const [key, run] of runs) {
    if (now - run.startedAt < keptMs) break;
    runs.delete(key);
  }
};

/**
 * Express executions, each awaited by one call of this process: AWS lets nobody ask for one, list or stop it. What is not awaited any
 * more is lost.
 */
export const expressRuns = (
  client: SfnClient,
  machines: Machines,
  closing: AbortSignal,
  { startMs, closeMs }: ExpressWaits = { startMs: 5_000, closeMs: 4_000 },
): ExpressRuns => {
  const runs = new Map<string, Run>();
  const sinks = new Set<Sink>();
  /** Runs whose ends are still to be told, by their starts or after them. */
  const open = new Set<Promise<void>>();

  const follow = (run: Run, log: CallContext["log"]): void => {
    const deliveries = run.ended
      .then(async (end) => {
        run.end = end;
        if (run.isAccepted) await notifySinks(run, end, sinks, log);
      })
      .finally(() => open.delete(deliveries));
    open.add(deliveries);
  };

  return {
    start: async (request, { signal, now, log }) => {
      const call = await prepareStart(machines, request, signal);
      const startedAt = now();
      forgetOld(runs, startedAt);
      const ended = awaitRun(client, call, startedAt, closing);
      const run: Run = { key: request.key, startedAt, ended, end: undefined, isAccepted: false };
      runs.set(run.key, run);
      follow(run, log);
      // Whoever gives up is answered all the same: it goes on, and this is how to find it.
      await within(ended, startMs, { signal });
      if (run.end?.failure !== undefined) {
        runs.delete(run.key);
        throw toMissing(run.end.failure, request.target);
      }
      run.isAccepted = run.end === undefined;
      return { ref: toExpressRef(run), ...(run.end === undefined ? {} : toSnapshot(run.end.outcome)) };
    },
    inspect: async (items, { now }) => items.map(({ ref }) => inspectOne(runs, ref, now())),
    watch: async ({ sink }) => {
      sinks.add(sink);
      return {
        close: async () => {
          // A server that stops while these run would never hear of them.
          await within(Promise.all(open), closeMs);
          sinks.delete(sink);
        },
      };
    },
    readOutput: async (ref, { offset, length }) => {
      const output = runs.get(parseExpressRef(ref).key)?.end?.output;
      if (output === undefined)
        throw new BridgeError("not_found", "the output of an Express execution is kept for minutes");
      const bytes = Buffer.from(output);
      return { bytes: bytes.subarray(offset, offset + length), totalBytes: bytes.length };
    },
  };
};
