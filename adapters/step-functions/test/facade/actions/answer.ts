import type { SendTaskFailureInput, SendTaskHeartbeatInput, SendTaskSuccessInput } from "@aws-sdk/client-sfn";
import { invalidOutput, invalidToken, taskDoesNotExist, taskTimedOut } from "../aws-error.ts";
import { checkLength, checkPayload, requireText } from "../check-members.ts";
import type { Performance } from "../play.ts";
import { StateFailure } from "../state-failure.ts";
import { isForgotten, type World } from "../world.ts";

type Empty = Record<never, never>;

const withTask = (
  world: World,
  taskToken: string | undefined,
  act: (performance: Performance, token: string, now: number) => boolean,
): Empty => {
  const token = requireText("taskToken", taskToken, 2_048);
  const execution = world.tokens.get(token);
  if (execution === undefined) throw invalidToken();
  const now = world.clock.now();
  const isKept = world.machines.get(execution.machine.name) === execution.machine;
  if (!isKept || isForgotten(execution, now)) throw taskDoesNotExist();
  if (!act(execution.performance(), token, now)) throw taskTimedOut();
  return {};
};

export const sendTaskSuccess = (world: World, { taskToken, output }: SendTaskSuccessInput): Empty => {
  const text = requireText("output", output, Number.POSITIVE_INFINITY);
  checkPayload("output", text, invalidOutput);
  return withTask(world, taskToken, (performance, token, now) =>
    performance.answer(token, { kind: "output", output: text }, now),
  );
};

export const sendTaskFailure = (world: World, { taskToken, error, cause }: SendTaskFailureInput): Empty => {
  checkLength("error", error, 256);
  checkLength("cause", cause, 32_768);
  const failure = new StateFailure(error, cause);
  return withTask(world, taskToken, (performance, token, now) =>
    performance.answer(token, { kind: "failure", failure }, now),
  );
};

export const sendTaskHeartbeat = (world: World, { taskToken }: SendTaskHeartbeatInput): Empty =>
  withTask(world, taskToken, (performance, token, now) => performance.heartbeat(token, now));
