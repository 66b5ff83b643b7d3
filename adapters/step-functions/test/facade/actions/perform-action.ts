import { AwsError } from "../aws-error.ts";
import type { JsonInput } from "../json-wire.ts";
import type { ActionCall, World } from "../world.ts";
import { sendTaskFailure, sendTaskHeartbeat, sendTaskSuccess } from "./answer.ts";
import { describeStateMachine, listStateMachines, listTagsForResource } from "./machines.ts";
import { describeExecution, describeMapRun, getExecutionHistory, listExecutions } from "./read.ts";
import { redriveExecution, startExecution, startSyncExecution, stopExecution } from "./start.ts";

/** Each action checks the members it needs: on the wire any of them may be absent or odd. */
type Action = (world: World, input: never, call: ActionCall) => object | Promise<object>;

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["DescribeExecution", describeExecution],
  ["DescribeMapRun", describeMapRun],
  ["DescribeStateMachine", describeStateMachine],
  ["GetExecutionHistory", getExecutionHistory],
  ["ListExecutions", listExecutions],
  ["ListStateMachines", listStateMachines],
  ["ListTagsForResource", listTagsForResource],
  ["RedriveExecution", redriveExecution],
  ["SendTaskFailure", sendTaskFailure],
  ["SendTaskHeartbeat", sendTaskHeartbeat],
  ["SendTaskSuccess", sendTaskSuccess],
  ["StartExecution", startExecution],
  ["StartSyncExecution", startSyncExecution],
  ["StopExecution", stopExecution],
]);

/** @throws AwsError for what the service would refuse, and for actions that this façade does not know. */
export const performAction = (
  world: World,
  action: string,
  input: JsonInput,
  call: ActionCall,
): object | Promise<object> => {
  const perform = actions.get(action);
  if (perform === undefined) throw new AwsError("UnknownOperationException", `${action} is not played here`, 404);
  return perform(world, input as never, call);
};
