import type {
  DescribeStateMachineInput,
  DescribeStateMachineOutput,
  ListStateMachinesInput,
  ListStateMachinesOutput,
  ListTagsForResourceInput,
  ListTagsForResourceOutput,
} from "@aws-sdk/client-sfn";
import { AwsError, resourceNotFound } from "../aws-error.ts";
import { checkMaxResults, requireText } from "../check-members.ts";
import { resolveMachine } from "../machine.ts";
import { readPage } from "../page.ts";
import type { World } from "../world.ts";

export const describeStateMachine = (world: World, request: DescribeStateMachineInput): DescribeStateMachineOutput => {
  const arn = requireText("stateMachineArn", request.stateMachineArn);
  const { machine } = resolveMachine(world.machines, world.region, arn);
  const { name, status, definition, roleArn, type, createdAt, description } = machine;
  return {
    stateMachineArn: arn,
    name,
    status,
    definition,
    roleArn,
    type,
    creationDate: new Date(createdAt),
    loggingConfiguration: { level: "OFF", includeExecutionData: false },
    tracingConfiguration: { enabled: false },
    ...(description === undefined ? {} : { description }),
    encryptionConfiguration: { type: "AWS_OWNED_KEY" },
  };
};

export const listStateMachines = (world: World, request: ListStateMachinesInput): ListStateMachinesOutput => {
  const maxResults = checkMaxResults(request.maxResults);
  const pages = readPage([maxResults], request.nextToken, world.clock.now());
  const begin = pages.after ?? 0;
  const all = [...world.machines.values()];
  const stateMachines = all.slice(begin, begin + maxResults).map(({ arn, name, type, createdAt }) => ({
    stateMachineArn: arn,
    name,
    type,
    creationDate: new Date(createdAt),
  }));
  const end = begin + stateMachines.length;
  return { stateMachines, ...(end < all.length ? { nextToken: pages.next(end) } : {}) };
};

export const listTagsForResource = (world: World, request: ListTagsForResourceInput): ListTagsForResourceOutput => {
  const arn = requireText("resourceArn", request.resourceArn);
  try {
    const { machine } = resolveMachine(world.machines, world.region, arn);
    return { tags: Object.entries(machine.tags).map(([key, value]) => ({ key, value })) };
  } catch (error) {
    // This action alone has another word for it.
    if (error instanceof AwsError && error.type === "StateMachineDoesNotExist") throw resourceNotFound(arn);
    throw error;
  }
};
