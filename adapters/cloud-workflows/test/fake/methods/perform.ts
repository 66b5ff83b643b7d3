import type { Call } from "../call.ts";
import type { Execution } from "../execution.ts";
import type { World } from "../world.ts";
import { listCallbacks, sendHttpCallback } from "./callbacks.ts";
import { createOne } from "./create-execution.ts";
import { cancelExecution, getExecution } from "./executions.ts";
import { listExecutions } from "./list-executions.ts";
import { getStepEntry, listStepEntries } from "./step-entries.ts";
import { getWorkflow, listWorkflows } from "./workflows.ts";

/** What a method answers; undefined: with an empty body. */
export interface Outcome {
  readonly answer: object | undefined;
  /** What it has started. */
  readonly execution?: Execution;
}

export const perform = (world: World, call: Call): Outcome => {
  switch (call.method) {
    case "createExecution":
      return createOne(world, call);
    case "getExecution":
      return { answer: getExecution(world, call) };
    case "listExecutions":
      return { answer: listExecutions(world, call) };
    case "cancelExecution":
      return { answer: cancelExecution(world, call) };
    case "listCallbacks":
      return { answer: listCallbacks(world, call) };
    case "sendHttpCallback":
      return { answer: sendHttpCallback(world, call) };
    case "listStepEntries":
      return { answer: listStepEntries(world, call) };
    case "getStepEntry":
      return { answer: getStepEntry(world, call) };
    case "getWorkflow":
      return { answer: getWorkflow(world, call) };
    case "listWorkflows":
      return { answer: listWorkflows(world, call) };
  }
};
