import { setTimeout as sleep } from "node:timers/promises";
import {
  asExecutionRef,
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
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import { withSignal } from "../aws/with-signal.ts";
import { isObject } from "../is-object.ts";
import type { Machines } from "../machines.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";
import { prepareStart } from "../start.ts";

/** How long a start waits for a refusal or a quick end (milliseconds). */
const patienceMs = 1_500;
/** An Express execution takes five minutes at most; with as much more as clocks and networks need (milliseconds). */
const longestMs = 6 * 60_000;
/** How long an end is kept for those who look (milliseconds). */
const keptMs = 15 * 60_000;

/** An execution that this process awaits. */
interface Run {
  readonly key: StartKey;
  readonly startedAt: number;
  snapshot?: ExecutionSnapshot;
  output?: string;
  /** Why its end will not be known. */
  lost?: string;
}

export interface ExpressRuns {
  start(request: StartRequest<StepFunctionsTarget>, context: CallContext): Promise<StartOutcome>;
  inspect(items: readonly InspectItem[], context: CallContext): Promise<readonly InspectOutcome[]>;
  watch(request: WatchRequest<StepFunctionsTarget>): Promise<Subscription>;
  readOutput(ref: ExecutionRef, range: OutputRange): Promise<OutputChunk>;
}

const toRef = ({ key, startedAt }: Pick<Run, "key" | "startedAt">): ExecutionRef =>
  asExecutionRef(JSON.stringify({ v: 1, express: key, at: startedAt }));

const parseRef = (ref: ExecutionRef): { readonly key: string; readonly startedAt: number } => {
  let value: unknown;
  try {
    value = JSON.parse(ref);
  } catch {
    value = undefined;
  }
  if (isObject(value) && value.v === 1 && typeof value.express === "string" && typeof value.at === "number")
    return { key: value.express, startedAt: value.at };
  throw new BridgeError("invalid_input", `not a reference of an Express execution: ${ref.slice(0, 100)}`, {
    data: { path: "ref" },
  });
};

/**
 * Express executions, each awaited by one call of this process: AWS lets nobody ask for one, list or stop it. What is not awaited any
 * more is lost.
 */
export const expressRuns = (client: SfnClient, machines: Machines, closing: AbortSignal): ExpressRuns => {
  const runs = new Map<string, Run>();
  const sinks = new Set<WatchRequest<unknown>["sink"]>();

  const prune = (now: number): void => {
    for (const [key, run] of runs) {
      if (now - run.startedAt < keptMs) break;
      runs.delete(key);
    }
  };

  const tell = async (run: Run, log: CallContext["log"]): Promise<void> => {
    const update = { key: run.key, ref: toRef(run), ...(run.snapshot === undefined ? {} : { snapshot: run.snapshot }) };
    const told = await Promise.allSettled([...sinks].map((sink) => sink([update])));
    // The next look tells it.
    for (const outcome of told)
      if (outcome.status === "rejected")
        log("warn", `an end was not written down at once: ${toBridgeError(outcome.reason).message}`);
  };

  const looked = (run: Run): InspectOutcome => {
    if (run.lost !== undefined) return { notFound: { proven: true, reason: run.lost } };
    return { snapshot: run.snapshot ?? { status: "running", startedAt: run.startedAt } };
  };

  const inspectOne = (ref: ExecutionRef, now: number): InspectOutcome => {
    const { key, startedAt } = parseRef(ref);
    const run = runs.get(key);
    if (run !== undefined && run.startedAt === startedAt) return looked(run);
    // Perhaps another process of this server awaits it, and tells its end.
    if (now - startedAt < longestMs)
      return {
        snapshot: {
          status: "running",
          startedAt,
          progress: { message: "awaited by another process, if that still runs" },
        },
      };
    const reason = "the process that awaited it has ended, and AWS lets nobody ask for an Express execution";
    return { notFound: { proven: true, reason } };
  };

  return {
    start: async (request, { signal, now, log }) => {
      const call = await prepareStart(machines, request, signal);
      const run: Run = { key: request.key, startedAt: now() };
      prune(run.startedAt);
      runs.set(run.key, run);
      let isTaken = false;
      let refusal: BridgeError | undefined;
      const ended = client.startSync(call, closing).then(
        async (details) => {
          const snapshot = toSnapshot(details);
          if (details.output !== undefined) run.output = details.output;
          if (snapshot === undefined) run.lost = `AWS tells a status that is not known here: ${details.status}`;
          else {
            const { url: _noPage, ...told } = snapshot;
            run.snapshot = { ...told, startedAt: Math.min(details.startedAt, details.endedAt ?? details.startedAt) };
          }
          if (isTaken) await tell(run, log);
        },
        async (error: unknown) => {
          refusal = toBridgeError(error);
          run.lost = `its end was not heard: ${refusal.message}`;
          if (isTaken) await tell(run, log);
        },
      );
      const waiting = new AbortController();
      try {
        await withSignal(signal, () => Promise.race([ended, sleep(patienceMs, undefined, { signal: waiting.signal })]));
      } catch (error) {
        // It goes on, and its end is told by its key.
        isTaken = true;
        throw new BridgeError("outcome_unknown", "given up while AWS was asked to start it", { cause: error });
      } finally {
        waiting.abort();
        ended.catch(() => {});
      }
      if (refusal !== undefined) {
        runs.delete(run.key);
        throw refusal;
      }
      isTaken = true;
      return { ref: toRef(run), ...(run.snapshot === undefined ? {} : { snapshot: run.snapshot }) };
    },
    inspect: async (items, { now }) =>
      items.map(({ ref }) => {
        try {
          return inspectOne(ref, now());
        } catch (error) {
          return { error: toBridgeError(error) };
        }
      }),
    watch: async ({ sink }) => {
      sinks.add(sink);
      return {
        close: async () => {
          sinks.delete(sink);
        },
      };
    },
    readOutput: async (ref, { offset, length }) => {
      const output = runs.get(parseRef(ref).key)?.output;
      if (output === undefined)
        throw new BridgeError("not_found", "the output of an Express execution is kept for minutes");
      const bytes = Buffer.from(output);
      return { bytes: bytes.subarray(offset, offset + length), totalBytes: bytes.length };
    },
  };
};
