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
import { consoleUrlOf, type ExecutionLocation, parseRef } from "../mapping/execution-arn.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";
import type { DetailReader } from "../questions/detail-reader.ts";
import type { Sweeps } from "./sweeps.ts";

export interface InspectTools {
  readonly client: SfnClient;
  readonly quotas: (arn: string) => Quotas;
  readonly sweeps: Sweeps;
  readonly details: DetailReader;
  /** How long histories are waited for, while statuses that are known wait with them (milliseconds). */
  readonly detailsMs: number;
}

/** What was started so long ago or less may be in no list yet (milliseconds). */
const lagMs = 5_000;

/** How long ends wait for their turn to be described in one look (milliseconds); those who come later are looked at again. */
const describeWithinMs = 2_000;

/** So many ends in one look wait until histories are read; of more, none waits, and histories are left to the next look. */
const maxDelayed = 10;

interface Inspection extends ExecutionLocation {
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
  inspect: Inspection,
  context: CallContext,
): Promise<InspectOutcome> => {
  const { signal, log, now } = context;
  const rates = quotas(inspect.arn);
  const isYoung = now() - (inspect.previous?.startedAt ?? 0) < lagMs;
  if (!rates.describe.tryTake(isYoung ? rates.describeReserve : 0)) {
    if (isYoung) return { unavailable: "started a moment ago, and not listed yet; looked at soon" };
    // What ended can be read from the last event as well, by a rate of its own.
    const end = await details.readEnd(inspect, context);
    if (end !== undefined) return { snapshot: end };
    if (!(await rates.describe.take(describeWithinMs, signal)))
      return { unavailable: "more executions have ended than AWS lets be described; looked at soon" };
  }
  const described = await client.describe(inspect.arn, signal);
  const snapshot = toSnapshot(described);
  if (snapshot === undefined) return { unavailable: `AWS tells a status that is not known here: ${described.status}` };
  if (snapshot.status === "running" && (described.redriveCount ?? 0) > 0)
    log("info", `${inspect.name} was redriven: a task that has ended keeps its first end`);
  return { snapshot };
};

/** What the looks at all machines have come to so far. */
interface Found {
  readonly outcomes: Map<string, InspectOutcome>;
  readonly refusals: BridgeError[];
}

const fail = ({ outcomes, refusals }: Found, inspections: readonly Inspection[], error: unknown): void => {
  refusals.push(toBridgeError(error));
  for (const { arn } of inspections) outcomes.set(arn, toOutcome(error));
};

/** Whether describing each is cheaper than a list, which refills at a third of the rate, or there sooner. */
const areFew = ({ quotas, sweeps }: InspectTools, inspections: readonly Inspection[], machineArn: string): boolean => {
  const { describe: rate, describeReserve, list } = quotas(machineArn);
  const pages = sweeps.lastPages(machineArn);
  const reserve = list.left() < pages ? 0 : describeReserve;
  return inspections.length <= 3 * pages && rate.left() >= inspections.length + reserve;
};

const list = async (
  { sweeps }: InspectTools,
  inspections: readonly Inspection[],
  machineArn: string,
  context: CallContext,
  { outcomes, refusals }: Found,
): Promise<void> => {
  const wanted = inspections.map(({ arn, previous }) => ({ arn, startedAt: previous?.startedAt }));
  try {
    const { running, refusal } = await sweeps.running(machineArn, wanted, context);
    // What was not reached is described as far as that rate goes.
    if (refusal !== undefined) refusals.push(refusal);
    for (const [arn, startedAt] of running)
      outcomes.set(arn, { snapshot: { status: "running", startedAt, url: consoleUrlOf(arn) } });
  } catch (error) {
    // Deleted meanwhile: its executions are asked for one by one.
    if (toBridgeError(error).code !== "not_found") throw error;
  }
};

const isRunning = (outcome: InspectOutcome | undefined): boolean =>
  outcome !== undefined && "snapshot" in outcome && outcome.snapshot.status === "running";

const addDetails = async (
  { details, detailsMs }: InspectTools,
  inspections: readonly Inspection[],
  context: CallContext,
  { outcomes }: Found,
): Promise<void> => {
  const running = inspections.filter(({ arn }) => isRunning(outcomes.get(arn)));
  if (inspections.length - running.length > maxDelayed) return;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(detailsMs)]);
  const wanted = running.filter(({ wantsDetail }) => wantsDetail);
  for (const [arn, more] of await details.read(wanted, { ...context, signal })) {
    const outcome = outcomes.get(arn);
    if (outcome !== undefined && "snapshot" in outcome)
      outcomes.set(arn, { snapshot: { ...outcome.snapshot, ...more } });
  }
};

/** One machine's executions: each described where they are few, else all running ones listed and the others described. */
const inspectOne = async (
  tools: InspectTools,
  inspections: readonly Inspection[],
  machineArn: string,
  context: CallContext,
  found: Found,
): Promise<void> => {
  if (!areFew(tools, inspections, machineArn)) await list(tools, inspections, machineArn, context, found);
  const describeOne = async (inspect: Inspection): Promise<void> => {
    const outcome = await describe(tools, inspect, context);
    found.outcomes.set(inspect.arn, outcome);
    if ("snapshot" in outcome && isEnded(outcome.snapshot.status)) tools.details.forget(inspect.arn);
  };
  const missing = inspections.filter(({ arn }) => !found.outcomes.has(arn));
  await Promise.all(
    missing.map((inspect) => describeOne(inspect).catch((error: unknown) => fail(found, [inspect], error))),
  );
  await addDetails(tools, inspections, context, found);
};

const groupByMachine = (inspections: Iterable<Inspection>): ReadonlyMap<string, readonly Inspection[]> => {
  const groups = new Map<string, Inspection[]>();
  for (const inspect of inspections) {
    const group = groups.get(inspect.machineArn) ?? [];
    groups.set(inspect.machineArn, group);
    group.push(inspect);
  }
  return groups;
};

/** Looks at executions of any number of machines. */
export const inspectExecutions = async (
  tools: InspectTools,
  items: readonly InspectItem[],
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const inspections = new Map<string, Inspection>();
  const found: Found = { outcomes: new Map(), refusals: [] };
  for (const { ref, previous, want } of items) {
    try {
      const wantsDetail = want === "detail" || inspections.get(ref)?.wantsDetail === true;
      inspections.set(ref, { ...parseRef(ref), previous, wantsDetail });
    } catch (error) {
      found.outcomes.set(ref, { error: toBridgeError(error) });
    }
  }
  await Promise.all(
    [...groupByMachine(inspections.values())].map(([machineArn, group]) =>
      inspectOne(tools, group, machineArn, context, found).catch((error: unknown) => fail(found, group, error)),
    ),
  );
  if (context.signal.aborted) throw new BridgeError("unavailable", "given up before AWS had answered");
  const results = items.map(({ ref }) => found.outcomes.get(ref) ?? { unavailable: "it was not asked for" });
  throwIfRefused(results, found.refusals);
  return results;
};

/** Nothing could be asked: the engine is to leave AWS alone for a while. */
const throwIfRefused = (results: readonly InspectOutcome[], refusals: readonly BridgeError[]): void => {
  const isRefused = (outcome: InspectOutcome): boolean =>
    "unavailable" in outcome || ("error" in outcome && outcome.error.data?.action !== undefined);
  const [first] = refusals;
  if (first !== undefined && results.every(isRefused)) throw first;
};
