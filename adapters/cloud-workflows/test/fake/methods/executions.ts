import type { Call } from "../call.ts";
import { failedPrecondition, notFound } from "../google-error.ts";
import { resolveExecution, type World } from "../world.ts";
import { readView } from "./list-executions.ts";
import { type ExecutionJson, toExecutionJson } from "./to-execution.ts";

/** "The API will default to the FULL view." */
export const getExecution = (world: World, { resource, query }: Call): ExecutionJson => {
  const execution = resolveExecution(world, resource);
  const view = execution.viewAt(world.clock.now() - world.lag.getMs);
  if (view === undefined) throw notFound();
  return toExecutionJson(world, execution, view, readView(query.get("view"), "FULL"));
};

/** What has ended cannot be cancelled; that this is FAILED_PRECONDITION is assumed. */
export const cancelExecution = (world: World, { resource }: Call): ExecutionJson => {
  const execution = resolveExecution(world, resource);
  if (execution.now().endedAt !== undefined) throw failedPrecondition("Cannot cancel an execution that is not active.");
  execution.end({ state: "CANCELLED" });
  return toExecutionJson(world, execution, execution.now(), "FULL");
};
