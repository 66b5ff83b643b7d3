import type { Fault, FaultKind } from "./fault.ts";

export interface PlanOptions {
  readonly random: () => number;
  /** How long faults go on (milliseconds). */
  readonly lengthMs: number;
  readonly replicas: number;
  readonly workers: number;
  /** The store is a server of its own, which can be killed and cut off. */
  readonly isNetworked: boolean;
}

const perReplica: readonly FaultKind[] = ["kill replica", "stop replica", "roll replica"];
const perLink: readonly FaultKind[] = ["cut link", "delay link", "freeze link", "lose answers"];

/** Time for the clients to connect before the first fault, and between two (milliseconds). */
const firstMs = 4_000;
const meanPauseMs = 3_500;

/** From and to how long each lasts (milliseconds). A replica is frozen longer in long runs. */
const lasts = (kind: FaultKind, lengthMs: number): readonly [number, number] => {
  if (kind === "stop replica") return lengthMs >= 180_000 ? [2_000, 60_000] : [2_000, 9_000];
  if (kind === "freeze link") return [1_000, 8_000];
  if (kind === "delay link" || kind === "lose answers") return [2_000, 6_000];
  return [200, 3_000];
};

/** All kinds come before one comes a second time; the order, the targets and the moments are drawn. */
export const drawPlan = ({ random, lengthMs, replicas, workers, isNetworked }: PlanOptions): readonly Fault[] => {
  const kinds: readonly FaultKind[] = [
    ...perReplica,
    "kill worker",
    "restart queue",
    ...(isNetworked ? (["restart store"] as const) : []),
    ...perLink,
  ];
  const between = (from: number, to: number): number => Math.round(from + random() * (to - from));
  const plan: Fault[] = [];
  let left: FaultKind[] = [];
  for (let atMs = firstMs; atMs < lengthMs; atMs += between(meanPauseMs / 2, meanPauseMs * 1.5)) {
    if (left.length === 0) left = [...kinds];
    const [kind] = left.splice(Math.floor(random() * left.length), 1) as [FaultKind];
    const isOfLink = perLink.includes(kind);
    const count = kind === "kill worker" ? workers : isOfLink || perReplica.includes(kind) ? replicas : 1;
    const target = Math.floor(random() * count);
    const forMs = between(...lasts(kind, lengthMs));
    const link = isNetworked && random() < 0.7 ? "store" : "queue";
    plan.push({ atMs, kind, target, forMs, ...(isOfLink ? { link } : {}) });
  }
  return plan;
};
