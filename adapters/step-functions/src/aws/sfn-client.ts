import { setMaxListeners } from "node:events";
import {
  type $Command,
  DescribeExecutionCommand,
  DescribeMapRunCommand,
  DescribeStateMachineCommand,
  type DescribeStateMachineOutput,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  ListTagsForResourceCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  type ServiceInputTypes,
  type ServiceOutputTypes,
  SFNClient,
  type SFNClientResolvedConfig,
  StartExecutionCommand,
  StartSyncExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { BridgeError, isBridgeError, withSignal } from "@taskbridge/core/adapter";
import type { Machine, PageCall, SfnClient, StartCall } from "./client.ts";
import { ifFree } from "./if-free.ts";
import { type InTurn, inTurn } from "./in-turn.ts";
import { toDetails } from "./to-details.ts";
import { type CallDetails, toError } from "./to-error.ts";
import { toEvent } from "./to-event.ts";

export type { SFNClient };

export interface ConnectionOptions {
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly profile: string | undefined;
  readonly client: SFNClient | undefined;
}

/** An Express execution takes five minutes at most. */
const syncTimeoutMs = 310_000;

/**
 * So many looks at once, and so many calls of tasks' own beside them, which hundreds of looks that AWS is slow to answer keep nobody from.
 * Others wait their turn here: AWS' client would take that for time to connect, and give up.
 */
const maxAtOnce = 50;
/** Each Express execution that runs holds a connection of its own. */
const maxSyncs = 1_000;
const sockets = { maxSockets: 2 * maxAtOnce + maxSyncs } as const;

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

type Call = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  name: string,
  signal: AbortSignal,
  command: $Command<Input, Output, SFNClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>,
) => Promise<Output>;

const paging = ({ size, token }: PageCall) => ({ maxResults: size, nextToken: token });

const toMachine = (described: Partial<DescribeStateMachineOutput>): Machine => {
  const { stateMachineArn: arn = "", name = "", type = "STANDARD", description } = described;
  return { arn, name, type, description };
};

type ReadOperations = "describe" | "listRunning" | "history" | "mapRun" | "tags";

/** What can wait. */
const readOperations = (read: Call): Pick<SfnClient, ReadOperations> => ({
  describe: async (arn, signal) =>
    toDetails(await read("DescribeExecution", signal, new DescribeExecutionCommand({ executionArn: arn }))),
  listRunning: async (machineArn, page, signal) => {
    const call = { stateMachineArn: machineArn, statusFilter: "RUNNING", ...paging(page) } as const;
    const { executions = [], nextToken } = await read("ListExecutions", signal, new ListExecutionsCommand(call));
    return { rows: executions.map(toDetails), next: nextToken };
  },
  history: async (arn, page, signal) => {
    const call = { executionArn: arn, reverseOrder: true, includeExecutionData: true, ...paging(page) };
    const { events = [], nextToken } = await read("GetExecutionHistory", signal, new GetExecutionHistoryCommand(call));
    return { rows: events.map(toEvent), next: nextToken };
  },
  mapRun: async (arn, signal) => {
    const { itemCounts } = await read("DescribeMapRun", signal, new DescribeMapRunCommand({ mapRunArn: arn }));
    const { succeeded = 0, failed = 0, timedOut = 0, aborted = 0, total = 0 } = itemCounts ?? {};
    return { done: succeeded + failed + timedOut + aborted, total };
  },
  tags: async (arn, signal) => {
    const command = new ListTagsForResourceCommand({ resourceArn: arn });
    const { tags = [] } = await read("ListTagsForResource", signal, command);
    return Object.fromEntries(tags.map(({ key = "", value = "" }) => [key, value]));
  },
});

type Needs = "machine" | "listMachines" | "keepTask";

/** What a start or an open question needs soon, and may be asked twice. */
const needs = (read: Call): Pick<SfnClient, Needs> => ({
  machine: async (arn, signal) => {
    // Without the definition no KMS key is needed.
    const command = new DescribeStateMachineCommand({ stateMachineArn: arn, includedData: "METADATA_ONLY" });
    return toMachine(await read("DescribeStateMachine", signal, command));
  },
  listMachines: async (page, signal) => {
    const command = new ListStateMachinesCommand(paging(page));
    const { stateMachines = [], nextToken } = await read("ListStateMachines", signal, command);
    return { rows: stateMachines.map(toMachine), next: nextToken };
  },
  keepTask: async (taskToken, signal) => {
    await read("SendTaskHeartbeat", signal, new SendTaskHeartbeatCommand({ taskToken }));
  },
});

const startInput = ({ machineArn, name, input }: StartCall) => ({ stateMachineArn: machineArn, name, input });

type Changes = "start" | "stop" | "succeedTask" | "failTask";

/** What may have been done although nobody heard so. */
const changes = (change: Call): Pick<SfnClient, Changes> => ({
  start: async (call, signal) => {
    const command = new StartExecutionCommand(startInput(call));
    const { executionArn = "", startDate } = await change("StartExecution", signal, command);
    return { arn: executionArn, startedAt: startDate?.getTime() ?? 0 };
  },
  stop: async (arn, fault, signal) => {
    await change("StopExecution", signal, new StopExecutionCommand({ executionArn: arn, ...fault }));
  },
  succeedTask: async (taskToken, output, signal) => {
    await change("SendTaskSuccess", signal, new SendTaskSuccessCommand({ taskToken, output }));
  },
  failTask: async (taskToken, fault, signal) => {
    await change("SendTaskFailure", signal, new SendTaskFailureCommand({ taskToken, ...fault }));
  },
});

const syncs = (change: Call): Pick<SfnClient, "startSync"> => ({
  startSync: async (call, signal) =>
    toDetails(await change("StartSyncExecution", signal, new StartSyncExecutionCommand(startInput(call)))),
});

/** Step Functions by AWS' client, which is made at the first call, and closed with us unless it was brought along. */
export const sfnClient = (options: ConnectionOptions): SfnClient => {
  let made: SFNClient | undefined;
  const open = (): SFNClient => {
    made ??= options.client ?? createClient(options);
    return made;
  };
  const call = async <Value>(
    location: CallDetails,
    turn: InTurn,
    signal: AbortSignal,
    work: (client: SFNClient) => Promise<Value>,
  ): Promise<Value> => {
    let hasTurn = false;
    try {
      // One look makes hundreds of calls at once by one signal.
      setMaxListeners(0, signal);
      const inItsTurn = async (): Promise<Value> => {
        signal.throwIfAborted();
        hasTurn = true;
        return work(open());
      };
      // Looking for credentials takes no signal, nor does waiting.
      return await withSignal(signal, () => turn(inItsTurn));
    } catch (error) {
      if (hasTurn || isBridgeError(error)) throw toError(error, location);
      const message = `${location.action}: given up before it was sent`;
      throw new BridgeError("unavailable", message, { notSent: true, cause: error });
    }
  };
  const callWith =
    (ifSent: CallDetails["ifSent"], turn: InTurn, requestTimeout?: number): Call =>
    (name, signal, command) =>
      call({ action: `states:${name}`, ifSent }, turn, signal, (client) =>
        client.send(command, { abortSignal: signal, ...(requestTimeout === undefined ? {} : { requestTimeout }) }),
      );
  const runReads = inTurn(maxAtOnce);
  const acting = inTurn(maxAtOnce);
  const syncing = ifFree(maxSyncs, "Express executions are awaited");

  return {
    region: (signal) =>
      call({ action: "states:region", ifSent: "unavailable" }, acting, signal, (client) => client.config.region()),
    ...readOperations(callWith("unavailable", runReads)),
    ...needs(callWith("unavailable", acting)),
    ...changes(callWith("outcome_unknown", acting)),
    ...syncs(callWith("outcome_unknown", syncing, syncTimeoutMs)),
    close: () => {
      if (options.client === undefined) made?.destroy();
    },
  };
};
