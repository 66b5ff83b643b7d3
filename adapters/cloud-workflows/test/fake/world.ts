import type { Clock } from "./clock.ts";
import type { Execution } from "./execution.ts";
import { notFound, permissionDenied } from "./google-error.ts";
import type { Workflow } from "./workflow.ts";

/** How far answers are behind (milliseconds). That any is, is assumed: Google documents no consistency. */
export interface Lag {
  readonly getMs: number;
  readonly listMs: number;
}

/** Everything that the methods read and change. */
export interface World {
  readonly clock: Clock;
  /** ID to number. Names in answers have the number, whichever the caller said. */
  readonly projects: Map<string, string>;
  readonly locations: Set<string>;
  /** By their names with the project's ID. */
  readonly workflows: Map<string, Workflow>;
  /** Neither queued nor ended, as far as anybody has looked; by project and location. */
  readonly active: Map<string, Set<Execution>>;
  readonly queued: Map<string, Execution[]>;
  /** Until when none of those that run does anything by itself. */
  readonly quietUntil: Map<string, number>;
  /** What an answer tells in place of the truth, by the execution's ID. */
  readonly overrides: Map<string, Readonly<Record<string, unknown>>>;
  /** How the last part but one of a callback's name is written. */
  readonly callbackSegment: "callback" | "callbacks";
  readonly namesBy: "number" | "id";
  lag: Lag;
  /** "Concurrent executions per region, per project." */
  maxActive: number;
  /** "Backlogged executions." */
  maxQueued: number;
  sequence: number;
}

/** Project ID and location of any resource. */
export const toLocation = (world: World, resource: string): string => {
  const [, project = "", , location = ""] = resource.split("/");
  return `${toProjectId(world, project)}/${location}`;
};

const toProjectId = ({ projects }: World, named: string): string => {
  if (projects.has(named)) return named;
  return [...projects].find(([, number]) => number === named)?.[0] ?? named;
};

/** With the project's number, as answers have it. */
export const toAnswerName = (world: World, name: string): string => {
  if (world.namesBy === "id") return name;
  const [head, project = "", ...rest] = name.split("/");
  return [head, world.projects.get(project) ?? project, ...rest].join("/");
};

/** A project that the caller cannot see is denied like one that does not exist (IAM); a location is not found. */
export const checkLocation = (world: World, resource: string, permission: string): void => {
  const [project = "", location = ""] = toLocation(world, resource).split("/");
  if (!world.projects.has(project)) throw permissionDenied(permission, resource);
  if (!world.locations.has(location)) throw notFound(`Location '${location}' was not found.`);
};

export const resolveWorkflow = (world: World, resource: string): Workflow => {
  const [, project = "", , location = "", , id = ""] = resource.split("/");
  const workflow = world.workflows.get(`projects/${toProjectId(world, project)}/locations/${location}/workflows/${id}`);
  if (workflow === undefined) throw notFound();
  return workflow;
};

/** How long what has ended is kept, in our words: https://cloud.google.com/workflows/quotas */
const keptMs = 90 * 86_400_000;

export const isForgotten = (execution: Execution, now: number): boolean => {
  if (now - execution.createdAt < keptMs) return false;
  const { endedAt } = execution.now();
  return endedAt !== undefined && now - endedAt >= keptMs;
};

/** What an execution's name means, also when it has just been created and no read would tell of it yet. */
export const resolveExecution = (world: World, resource: string): Execution => {
  const [, , , , , , , id = ""] = resource.split("/");
  settleBacklog(world, toLocation(world, resource));
  const execution = resolveWorkflow(world, resource).byId.get(id);
  if (execution === undefined || isForgotten(execution, world.clock.now())) throw notFound();
  return execution;
};

/** How many really run. */
export const countActive = (world: World, where: string): number => {
  const active = activeOf(world, where);
  const now = world.clock.now();
  // Looking takes out those that have ended; it is left to when it matters and something can have happened.
  if (active.size < world.maxActive || now < (world.quietUntil.get(where) ?? 0)) return active.size;
  let quietUntil = Number.POSITIVE_INFINITY;
  for (const one of active) quietUntil = Math.min(quietUntil, one.performance()?.nextAt() ?? now);
  world.quietUntil.set(where, quietUntil);
  return active.size;
};

/** Counts it among those that run. */
export const activate = (world: World, where: string, execution: Execution): void => {
  activeOf(world, where).add(execution);
  world.quietUntil.delete(where);
};

/** "The backlog execution starts when the concurrency quota becomes available": here, when somebody looks. */
export const settleBacklog = (world: World, where: string): void => {
  const queued = world.queued.get(where) ?? [];
  while (queued.length > 0 && countActive(world, where) < world.maxActive) {
    const next = queued.shift();
    if (next === undefined || next.now().state !== "QUEUED") continue;
    next.begin(world.clock.now());
    activate(world, where, next);
  }
};

const activeOf = (world: World, where: string): Set<Execution> => {
  const active = world.active.get(where) ?? new Set();
  world.active.set(where, active);
  return active;
};
