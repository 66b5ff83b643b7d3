import "./aws-environment.ts";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SFNClient,
} from "@aws-sdk/client-sfn";
import { CreateQueueCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { describe, it } from "@jest/globals";
import { startMoto, whyNoMoto } from "@taskbridge/services/moto";
import { type StepFunctionsOptions, stepFunctions } from "../src/index.ts";

const missing: string | undefined = await whyNoMoto();

/** A suite that needs moto. Skipped by name where there is none. */
export const describeMoto = (name: string, body: () => void): void => {
  if (missing === undefined) describe(name, body);
  else if (process.env.TASKBRIDGE_REQUIRE_ENGINES === "1")
    it(`${name}: needs moto`, () => {
      throw new Error(missing);
    });
  else describe.skip(`${name} (SKIPPED: ${missing})`, body);
};

const region = "eu-west-1";
const roleArn = "arn:aws:iam::123456789012:role/machines";

export const arnOf = (machine: string): string => `arn:aws:states:${region}:123456789012:stateMachine:${machine}`;

/** A task that puts its token into a queue and waits. */
export const asking = (queueUrl: string, name: string, mcp?: object): object => ({
  Type: "Task",
  Resource: "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
  Parameters: {
    QueueUrl: queueUrl,
    MessageBody: {
      "token.$": "$$.Task.Token",
      "execution.$": "$$.Execution.Id",
      name,
      ...(mcp === undefined ? {} : { mcp }),
    },
  },
});

/** What EventBridge sends when an execution has ended. */
export const toEvent = (detail: object): object => ({
  "detail-type": "Step Functions Execution Status Change",
  source: "aws.states",
  region,
  detail,
});

export interface MotoBench {
  readonly endpoint: string;
  /** Where states send their tokens; also the adapter's own with `listens`. */
  readonly queueUrl: string;
  /** Makes a machine of these states, the first of which is `StartAt`. */
  machine(name: string, states: Readonly<Record<string, object>>): Promise<string>;
  adapter(given?: StepFunctionsOptions & { readonly listens?: true }): ReturnType<typeof stepFunctions>;
  /** Makes another queue. Returns its URL. */
  queue(name: string): Promise<string>;
  /** Default: to `queueUrl`. */
  send(body: object, queueUrl?: string): Promise<void>;
  /** Executions that are there, of any status. */
  executions(machine: string): Promise<number>;
  /** Does EventBridge's work, which moto does not: sends the ends of these machines' executions to the queue. Default: to `queueUrl`. */
  relay(machines: readonly string[], queueUrl?: string): { stop(): Promise<void> };
  stop(): Promise<void>;
}

export const motoBench = async (): Promise<MotoBench> => {
  const moto = await startMoto();
  const { endpoint } = moto;
  const sfn = new SFNClient({ endpoint, region });
  const sqs = new SQSClient({ endpoint, region });
  const queue: MotoBench["queue"] = async (name) => {
    const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
    return QueueUrl;
  };
  const queueUrl = await queue("events");
  const send: MotoBench["send"] = async (body, to = queueUrl) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: to, MessageBody: JSON.stringify(body) }));
  };
  const list = async (machine: string) => {
    const call = { stateMachineArn: arnOf(machine), maxResults: 1_000 };
    return (await sfn.send(new ListExecutionsCommand(call))).executions ?? [];
  };

  const relayOnce = async (machine: string, reported: Set<string>, to?: string): Promise<void> => {
    for (const { executionArn, status } of await list(machine)) {
      if (executionArn === undefined || status === "RUNNING" || reported.has(executionArn)) continue;
      reported.add(executionArn);
      const { name } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
      await send(toEvent({ executionArn, stateMachineArn: arnOf(machine), name, status }), to);
    }
  };

  return {
    endpoint,
    queueUrl,
    machine: async (name, states) => {
      const definition = JSON.stringify({ StartAt: Object.keys(states)[0], States: states });
      const { stateMachineArn = "" } = await sfn.send(new CreateStateMachineCommand({ name, definition, roleArn }));
      return stateMachineArn;
    },
    adapter: ({ listens, ...given } = {}) =>
      stepFunctions({
        region,
        endpoint,
        ...(listens === undefined ? {} : { queueUrl, queueEndpoint: endpoint }),
        ...given,
      }),
    queue,
    send,
    executions: async (machine) => (await list(machine)).length,
    relay: (machines, to) => {
      const reported = new Set<string>();
      let isStopped = false;
      const loop = (async () => {
        while (!isStopped) {
          const startedAt = performance.now();
          for (const machine of machines) await relayOnce(machine, reported, to);
          // Looking is dear to moto, and the dearer the more has ended: it is to have time for other things.
          const pauseMs = Math.max(50, 4 * (performance.now() - startedAt));
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
      })();
      return {
        stop: () => {
          isStopped = true;
          return loop;
        },
      };
    },
    stop: async () => {
      sfn.destroy();
      sqs.destroy();
      await moto.stop();
    },
  };
};
