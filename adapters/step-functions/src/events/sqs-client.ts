import type { SQSClient } from "@aws-sdk/client-sqs";
import { BridgeError, withSignal } from "@taskbridge/core/adapter";
import { toError } from "../aws/to-error.ts";
import type { QueueClient } from "./queue-client.ts";

type Sqs = typeof import("@aws-sdk/client-sqs");

export interface QueueOptions {
  readonly queueUrl: string;
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly profile: string | undefined;
}

const load = async (): Promise<Sqs> => {
  try {
    return await import("@aws-sdk/client-sqs");
  } catch (error) {
    const message = "`queueUrl` needs the package @aws-sdk/client-sqs: npm install @aws-sdk/client-sqs";
    throw new BridgeError("misconfigured", message, { notSent: true, data: { path: "queueUrl" }, cause: error });
  }
};

/** `https://sqs.eu-west-1.amazonaws.com/…`: a queue is called in its own region. */
const regionOf = (queueUrl: string): string | undefined => /^https:\/\/sqs\.([\w-]+)\.amazonaws\./.exec(queueUrl)?.[1];

const create = async ({ queueUrl, region = regionOf(queueUrl), endpoint, profile }: QueueOptions) => {
  const sqs = await load();
  const client = new sqs.SQSClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(profile === undefined ? {} : { profile }),
    maxAttempts: 1,
    // Above the longest poll.
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
  });
  return { sqs, client };
};

/** SQS by AWS' client, which is loaded and made at the first call. */
export const sqsClient = (options: QueueOptions): QueueClient => {
  const { queueUrl } = options;
  let made: ReturnType<typeof create> | undefined;
  const call = async <Value>(
    name: string,
    signal: AbortSignal,
    work: (sqs: Sqs, client: SQSClient) => Promise<Value>,
  ): Promise<Value> => {
    try {
      return await withSignal(signal, async () => {
        made ??= create(options);
        const { sqs, client } = await made;
        return work(sqs, client);
      });
    } catch (error) {
      throw toError(error, { action: `sqs:${name}`, ifSent: "unavailable" });
    }
  };

  return {
    receive: (waitSeconds, signal) =>
      call("ReceiveMessage", signal, async (sqs, client) => {
        const request = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: waitSeconds };
        const { Messages = [] } = await client.send(new sqs.ReceiveMessageCommand(request), { abortSignal: signal });
        return Messages.map(({ MessageId = "", Body = "", ReceiptHandle = "" }) => ({
          id: MessageId,
          body: Body,
          handle: ReceiptHandle,
        }));
      }),
    delete: (messages, signal) =>
      call("DeleteMessage", signal, async (sqs, client) => {
        const Entries = messages.map(({ handle }, index) => ({ Id: String(index), ReceiptHandle: handle }));
        // What could not be deleted comes again, and is taken once more without harm.
        await client.send(new sqs.DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }), { abortSignal: signal });
      }),
    check: (signal) =>
      call("GetQueueAttributes", signal, async (sqs, client) => {
        const request = { QueueUrl: queueUrl, AttributeNames: ["QueueArn" as const] };
        await client.send(new sqs.GetQueueAttributesCommand(request), { abortSignal: signal });
      }),
    close: () => {
      // One that could not be made has nothing to close.
      made?.then(
        ({ client }) => client.destroy(),
        () => {},
      );
    },
  };
};
