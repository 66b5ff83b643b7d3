import { setMaxListeners } from "node:events";
import {
  DescribeExecutionCommand,
  DescribeMapRunCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  ListTagsForResourceCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  type HistoryEvent as SfnEvent,
  StartExecutionCommand,
  StartSyncExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import type { Machine, PageCall, SfnClient } from "./client.ts";
import { type InTurn, inTurn } from "./in-turn.ts";
import { toDetails } from "./to-details.ts";
import { type CallPlace, toError } from "./to-error.ts";
import { toEvent } from "./to-event.ts";
import { withSignal } from "./with-signal.ts";

export type { SFNClient, SfnEvent };

export interface ConnectionOptions {
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly profile: string | undefined;
  readonly client: SFNClient | undefined;
}

/** An Express execution takes five minutes at most. */
const syncTimeoutMs = 310_000;

/** So many calls at once. Others wait their turn here: AWS' client would take that for time to connect, and give up. */
const mostAtOnce = 50;
/** Each Express execution that runs holds a connection of its own. */
const mostSyncs = 1_000;
const sockets = { maxSockets: mostAtOnce + mostSyncs } as const;

/**
 * The engine repeats what may be repeated, and knows what a repeat means; the client's own retries would hide throttling from it, and
 * send a start twice. So there are none.
 */
const createClient = ({ region, endpoint, profile }: ConnectionOptions): SFNClient =>
  new SFNClient({
    ...(region === undefined ? {} : { region }),
    // An endpoint of one's own has no `sync-` beside it.
    ...(endpoint === undefined ? {} : { endpoint, disableHostPrefix: true }),
    ...(profile === undefined ? {} : { profile }),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 15_000,
      throwOnRequestTimeout: true,
      httpAgent: sockets,
      httpsAgent: sockets,
    },
  });

type Call = <Value>(name: string, signal: AbortSignal, work: (client: SFNClient) => Promise<Value>) => Promise<Value>;

const paging = ({ size, token }: PageCall) => ({ maxResults: size, nextToken: token });

interface DescribedMachine {
  readonly stateMachineArn: string | undefined;
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly description?: string | undefined;
}

const toMachine = ({
  stateMachineArn: arn = "",
  name = "",
  type = "STANDARD",
  description,
}: DescribedMachine): Machine => ({
  arn,
  name,
  type,
  description,
});

type Looks = "describe" | "listRunning" | "history" | "mapRun" | "machine" | "listMachines" | "tags" | "keepTask";

/** What may be asked twice. */
const looks = (look: Call): Pick<SfnClient, Looks> => ({
  describe: (arn, signal) =>
    look("DescribeExecution", signal, async (client) =>
      toDetails(await client.send(new DescribeExecutionCommand({ executionArn: arn }), { abortSignal: signal })),
    ),
  listRunning: (machineArn, page, signal) =>
    look("ListExecutions", signal, async (client) => {
      const call = { stateMachineArn: machineArn, statusFilter: "RUNNING", ...paging(page) } as const;
      const found = await client.send(new ListExecutionsCommand(call), { abortSignal: signal });
      return { rows: (found.executions ?? []).map(toDetails), next: found.nextToken };
    }),
  history: (arn, page, signal) =>
    look("GetExecutionHistory", signal, async (client) => {
      const call = { executionArn: arn, reverseOrder: true, includeExecutionData: true, ...paging(page) };
      const found = await client.send(new GetExecutionHistoryCommand(call), { abortSignal: signal });
      return { rows: (found.events ?? []).map(toEvent), next: found.nextToken };
    }),
  mapRun: (arn, signal) =>
    look("DescribeMapRun", signal, async (client) => {
      const { itemCounts } = await client.send(new DescribeMapRunCommand({ mapRunArn: arn }), {
        abortSignal: signal,
      });
      const { succeeded = 0, failed = 0, timedOut = 0, aborted = 0, total = 0 } = itemCounts ?? {};
      return { done: succeeded + failed + timedOut + aborted, total };
    }),
  machine: (arn, signal) =>
    look("DescribeStateMachine", signal, async (client) => {
      // Without the definition no KMS key is needed.
      const command = new DescribeStateMachineCommand({ stateMachineArn: arn, includedData: "METADATA_ONLY" });
      return toMachine(await client.send(command, { abortSignal: signal }));
    }),
  listMachines: (page, signal) =>
    look("ListStateMachines", signal, async (client) => {
      const found = await client.send(new ListStateMachinesCommand(paging(page)), { abortSignal: signal });
      return { rows: (found.stateMachines ?? []).map(toMachine), next: found.nextToken };
    }),
  tags: (arn, signal) =>
    look("ListTagsForResource", signal, async (client) => {
      const { tags } = await client.send(new ListTagsForResourceCommand({ resourceArn: arn }), {
        abortSignal: signal,
      });
      return Object.fromEntries((tags ?? []).map(({ key = "", value = "" }) => [key, value]));
    }),
  keepTask: (taskToken, signal) =>
    look("SendTaskHeartbeat", signal, async (client) => {
      await client.send(new SendTaskHeartbeatCommand({ taskToken }), { abortSignal: signal });
    }),
});

type Changes = "start" | "stop" | "succeedTask" | "failTask";

/** What may have been done although nobody heard so. */
const changes = (change: Call): Pick<SfnClient, Changes> => ({
  start: ({ machineArn, name, input }, signal) =>
    change("StartExecution", signal, async (client) => {
      const command = new StartExecutionCommand({ stateMachineArn: machineArn, name, input });
      const { executionArn, startDate } = await client.send(command, { abortSignal: signal });
      return { arn: executionArn ?? "", startedAt: startDate?.getTime() ?? 0 };
    }),
  stop: (arn, told, signal) =>
    change("StopExecution", signal, async (client) => {
      await client.send(new StopExecutionCommand({ executionArn: arn, ...told }), { abortSignal: signal });
    }),
  succeedTask: (taskToken, output, signal) =>
    change("SendTaskSuccess", signal, async (client) => {
      await client.send(new SendTaskSuccessCommand({ taskToken, output }), { abortSignal: signal });
    }),
  failTask: (taskToken, told, signal) =>
    change("SendTaskFailure", signal, async (client) => {
      await client.send(new SendTaskFailureCommand({ taskToken, ...told }), { abortSignal: signal });
    }),
});

const syncs = (change: Call): Pick<SfnClient, "startSync"> => ({
  startSync: ({ machineArn, name, input }, signal) =>
    change("StartSyncExecution", signal, async (client) => {
      const command = new StartSyncExecutionCommand({ stateMachineArn: machineArn, name, input });
      return toDetails(await client.send(command, { abortSignal: signal, requestTimeout: syncTimeoutMs }));
    }),
});

/** Step Functions by AWS' client, which is made at the first call, and closed with us unless it was brought along. */
export const sfnClient = (options: ConnectionOptions): SfnClient => {
  let made: SFNClient | undefined;
  const open = (): SFNClient => {
    made ??= options.client ?? createClient(options);
    return made;
  };
  const callWith =
    (ifSent: CallPlace["ifSent"], turn: InTurn): Call =>
    async (name, signal, work) => {
      try {
        // One look makes hundreds of calls at once by one signal.
        setMaxListeners(0, signal);
        // Looking for credentials takes no signal, nor does waiting.
        return await withSignal(signal, () => turn(() => work(open())));
      } catch (error) {
        throw toError(error, { action: `states:${name}`, ifSent });
      }
    };
  const turn = inTurn(mostAtOnce);
  const look = callWith("unavailable", turn);

  return {
    region: (signal) => look("region", signal, (client) => client.config.region()),
    ...looks(look),
    ...changes(callWith("outcome_unknown", turn)),
    ...syncs(callWith("outcome_unknown", inTurn(mostSyncs))),
    close: () => {
      if (options.client === undefined) made?.destroy();
    },
  };
};
