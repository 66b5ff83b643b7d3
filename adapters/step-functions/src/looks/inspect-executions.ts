import {
  BridgeError,
  type CallContext,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import { consoleUrlOf, type ExecutionPlace, parseRef } from "../mapping/execution-arn.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";
import type { DetailReader } from "../questions/detail-reader.ts";
import type { RunningList, Sweeps } from "./sweeps.ts";

export interface InspectTools {
  readonly client: SfnClient;
  readonly quotas: (arn: string) => Quotas;
  readonly sweeps: Sweeps;
  readonly details: DetailReader;
  /** How long histories are waited for, while statuses that are known wait with them (milliseconds). */
  readonly detailsMs: number;
}

/** How long ends wait for their turn to be described in one look (milliseconds); those who come later are looked at again. */
const describeWithinMs = 2_000;

/** So many ends in one look wait until histories are read; of more, none waits, and histories are left to the next look. */
const mostDelayed = 10;

interface Look extends ExecutionPlace {
  readonly previous: ExecutionSnapshot | undefined;
  readonly wantsDetail: boolean;
}

const notSeen = "AWS does not show it: removed with its state machine, of another account, or ended 90 days ago";

const toOutcome = (error: unknown): InspectOutcome => {
  const known = toBridgeError(error);
  if (known.code === "not_found") return { notFound: { proven: false, reason: notSeen } };
  if (known.code !== "throttled" && known.code !== "unavailable") return { error: known };
  const pause = known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs };
  return { unavailable: known.message, ...pause };
};

const describe = async (
  { client, quotas, details }: InspectTools,
  look: Look,
  context: CallContext,
): Promise<InspectOutcome> => {
  const { signal, log } = context;
  const rates = quotas(look.arn);
  if (!rates.describe.tryTake()) {
    // What ended can be read from the last event as well, by a rate of its own.
    const end = await details.readEnd(look, context);
    if (end !== undefined) return { snapshot: end };
    if (!(await rates.describe.take(describeWithinMs, signal)))
      return { unavailable: "more executions have ended than AWS lets be described; looked at soon" };
  }
  const described = await client.describe(look.arn, signal);
  const snapshot = toSnapshot(described);
  if (snapshot === undefined) return { unavailable: `AWS tells a status that is not known here: ${described.status}` };
  if (snapshot.status === "running" && (described.redriveCount ?? 0) > 0)
    log("info", `${look.name} was redriven: a task that has ended keeps its first end`);
  return { snapshot };
};

/** One machine's executions: each described where they are few, else all running ones listed and the others described. */
const lookAt = async (
  tools: InspectTools,
  looks: readonly Look[],
  context: CallContext,
  refusals: BridgeError[],
): Promise<ReadonlyMap<string, InspectOutcome>> => {
  const outcomes = new Map<string, InspectOutcome>();
  const machineArn = looks[0]?.machineArn ?? "";
  const { describe: rate, describeReserve } = tools.quotas(machineArn);
  // A list refills at a third of the rate of describing.
  const areFew =
    looks.length <= 3 * tools.sweeps.lastPages(machineArn) && rate.left() >= looks.length + describeReserve;
  let missing = looks;
  if (!areFew) {
    const wanted = looks.map(({ arn, previous }) => ({ arn, startedAt: previous?.startedAt }));
    const { running, refusal } = await tools.sweeps
      .running(machineArn, wanted, context.signal)
      .catch((error: unknown): RunningList => {
        // Deleted meanwhile: its executions are asked for one by one.
        if (toBridgeError(error).code === "not_found") return { running: new Map() };
        throw error;
      });
    // What was not reached is described as far as that rate goes.
    if (refusal !== undefined) refusals.push(refusal);
    missing = looks.filter(({ arn }) => !running.has(arn));
    for (const [arn, startedAt] of running)
      outcomes.set(arn, { snapshot: { status: "running", startedAt, url: consoleUrlOf(arn) } });
  }
  await Promise.all(
    missing.map(async (look) => {
      const outcome = await describe(tools, look, context).catch((error: unknown) => {
        refusals.push(toBridgeError(error));
        return toOutcome(error);
      });
      outcomes.set(look.arn, outcome);
      if ("snapshot" in outcome && isEnded(outcome.snapshot.status)) tools.details.forget(look.arn);
    }),
  );
  const ended = [...outcomes.values()].filter((outcome) => !isRunning(outcome)).length;
  const detailed =
    ended > mostDelayed ? [] : looks.filter(({ arn, wantsDetail }) => wantsDetail && isRunning(outcomes.get(arn)));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(tools.detailsMs)]);
  for (const [arn, snapshot] of await tools.details.read(detailed, { ...context, signal })) {
    const outcome = outcomes.get(arn);
    if (outcome !== undefined && "snapshot" in outcome)
      outcomes.set(arn, { snapshot: { ...outcome.snapshot, ...snapshot } });
  }
  return outcomes;
};

const isRunning = (outcome: InspectOutcome | undefined): boolean =>
  outcome !== undefined && "snapshot" in outcome && outcome.snapshot.status === "running";

const groupByMachine = (looks: Iterable<Look>): Iterable<Look[]> => {
  const groups = new Map<string, Look[]>();
  for (const look of looks) {
    const group = groups.get(look.machineArn) ?? [];
    groups.set(look.machineArn, group);
    group.push(look);
  }
  return groups.values();
};

/** Looks at executions of any number of machines. */
export const inspectExecutions = async (
  tools: InspectTools,
  items: readonly InspectItem[],
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const looks = new Map<string, Look>();
  const outcomes = new Map<string, InspectOutcome>();
  for (const { ref, previous, want } of items) {
    try {
      const place = parseRef(ref);
      const wantsDetail = want === "detail" || looks.get(ref)?.wantsDetail === true;
      looks.set(ref, { ...place, previous, wantsDetail });
    } catch (error) {
      outcomes.set(ref, { error: toBridgeError(error) });
    }
  }
  const refusals: BridgeError[] = [];
  await Promise.all(
    [...groupByMachine(looks.values())].map(async (group) => {
      try {
        for (const [arn, outcome] of await lookAt(tools, group, context, refusals)) outcomes.set(arn, outcome);
      } catch (error) {
        refusals.push(toBridgeError(error));
        for (const { arn } of group) outcomes.set(arn, toOutcome(error));
      }
    }),
  );
  if (context.signal.aborted) throw new BridgeError("unavailable", "given up before AWS had answered");
  const told = items.map(({ ref }) => outcomes.get(ref) ?? { unavailable: "it was not asked for" });
  throwIfRefused(told, refusals);
  return told;
};

/** Nothing could be asked: the engine is to leave AWS alone for a while. */
const throwIfRefused = (told: readonly InspectOutcome[], refusals: readonly BridgeError[]): void => {
  const isRefused = (outcome: InspectOutcome): boolean =>
    "unavailable" in outcome || ("error" in outcome && outcome.error.data?.action !== undefined);
  const [first] = refusals;
  if (first !== undefined && told.every(isRefused)) throw first;
};
