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
import type { ExecutionDetails, ExecutionRow, HistoryEvent, Machine, PageCall, SfnClient } from "./client.ts";
import { type CallPlace, toError } from "./to-error.ts";
import { withSignal } from "./with-signal.ts";

/** AWS' own client, for those who bring one. */
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
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 15_000, throwOnRequestTimeout: true },
  });

const at = (date: Date | undefined): number => date?.getTime() ?? 0;
const given = <Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

interface Described {
  readonly executionArn: string | undefined;
  readonly status: string | undefined;
  readonly startDate: Date | undefined;
  readonly stopDate?: Date | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
  readonly redriveCount?: number | undefined;
}

const toRow = (row: Described): ExecutionRow => ({
  arn: row.executionArn ?? "",
  status: row.status ?? "",
  startedAt: at(row.startDate),
  ...given("endedAt", row.stopDate?.getTime()),
});

const toDetails = (row: Described): ExecutionDetails => ({
  ...toRow(row),
  ...given("input", row.input),
  ...given("output", row.output),
  ...given("error", row.error),
  ...given("cause", row.cause),
  ...given("redriveCount", row.redriveCount),
});

/** Members of the details, whichever kind they are of: every event has one at most. */
interface Details {
  readonly name?: string;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
  readonly length?: number;
  readonly mapRunArn?: string;
}

const toEvent = (event: SfnEvent): HistoryEvent => {
  const scheduled = event.taskScheduledEventDetails;
  const [, details] = Object.entries(event).find(([name]) => name.endsWith("EventDetails")) ?? [];
  const told = (details ?? {}) as Details;
  return {
    id: event.id ?? 0,
    previousId: event.previousEventId ?? 0,
    type: event.type ?? "",
    at: at(event.timestamp),
    ...given("state", /State(Entered|Exited)$|^MapIteration/.test(event.type ?? "") ? told.name : undefined),
    ...given(
      "task",
      scheduled && {
        resource: scheduled.resource ?? "",
        parameters: scheduled.parameters ?? "",
        ...given("timeoutMs", inMs(scheduled.timeoutInSeconds)),
        ...given("heartbeatMs", inMs(scheduled.heartbeatInSeconds)),
      },
    ),
    ...given("length", told.length),
    ...given("mapRunArn", told.mapRunArn),
    ...given("output", told.output),
    ...given("error", told.error),
    ...given("cause", told.cause),
  };
};

interface DescribedMachine {
  readonly stateMachineArn: string | undefined;
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly description?: string | undefined;
}

const toMachine = ({ stateMachineArn, name, type, description }: DescribedMachine): Machine => ({
  arn: stateMachineArn ?? "",
  name: name ?? "",
  type: type ?? "STANDARD",
  ...given("description", description),
});

const paging = ({ size, token }: PageCall): { maxResults: number; nextToken?: string } => ({
  maxResults: size,
  ...given("nextToken", token),
});

/** Step Functions by AWS' client, which is made at the first call, and closed with us unless it was brought along. */
export const sfnClient = (options: ConnectionOptions): SfnClient => {
  let made: SFNClient | undefined;
  const open = (): SFNClient => {
    made ??= options.client ?? createClient(options);
    return made;
  };
  const guarded = async <Value>(
    place: CallPlace,
    signal: AbortSignal,
    work: (client: SFNClient) => Promise<Value>,
  ): Promise<Value> => {
    try {
      // One look makes hundreds of calls at once by one signal.
      setMaxListeners(0, signal);
      // Looking for credentials takes no signal.
      return await withSignal(signal, () => work(open()));
    } catch (error) {
      throw toError(error, place);
    }
  };
  const look = <Value>(name: string, signal: AbortSignal, work: (client: SFNClient) => Promise<Value>) =>
    guarded({ action: `states:${name}`, ifSent: "unavailable" }, signal, work);
  const change = <Value>(name: string, signal: AbortSignal, work: (client: SFNClient) => Promise<Value>) =>
    guarded({ action: `states:${name}`, ifSent: "outcome_unknown" }, signal, work);

  return {
    region: (signal) => look("region", signal, (client) => client.config.region()),
    start: ({ machineArn, name, input }, signal) =>
      change("StartExecution", signal, async (client) => {
        const command = new StartExecutionCommand({ stateMachineArn: machineArn, name, input });
        const { executionArn, startDate } = await client.send(command, { abortSignal: signal });
        return { arn: executionArn ?? "", startedAt: at(startDate) };
      }),
    startSync: ({ machineArn, name, input }, signal) =>
      change("StartSyncExecution", signal, async (client) => {
        const command = new StartSyncExecutionCommand({ stateMachineArn: machineArn, name, input });
        return toDetails(await client.send(command, { abortSignal: signal, requestTimeout: syncTimeoutMs }));
      }),
    describe: (arn, signal) =>
      look("DescribeExecution", signal, async (client) =>
        toDetails(await client.send(new DescribeExecutionCommand({ executionArn: arn }), { abortSignal: signal })),
      ),
    listRunning: (machineArn, page, signal) =>
      look("ListExecutions", signal, async (client) => {
        const call = { stateMachineArn: machineArn, statusFilter: "RUNNING", ...paging(page) } as const;
        const found = await client.send(new ListExecutionsCommand(call), { abortSignal: signal });
        return { rows: (found.executions ?? []).map(toRow), ...given("next", found.nextToken) };
      }),
    history: (arn, page, signal) =>
      look("GetExecutionHistory", signal, async (client) => {
        const call = { executionArn: arn, reverseOrder: true, includeExecutionData: true, ...paging(page) };
        const found = await client.send(new GetExecutionHistoryCommand(call), { abortSignal: signal });
        return { rows: (found.events ?? []).map(toEvent), ...given("next", found.nextToken) };
      }),
    mapRun: (arn, signal) =>
      look("DescribeMapRun", signal, async (client) => {
        const { itemCounts } = await client.send(new DescribeMapRunCommand({ mapRunArn: arn }), {
          abortSignal: signal,
        });
        const { succeeded = 0, failed = 0, timedOut = 0, aborted = 0, total = 0 } = itemCounts ?? {};
        return { done: succeeded + failed + timedOut + aborted, total };
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
    keepTask: (taskToken, signal) =>
      look("SendTaskHeartbeat", signal, async (client) => {
        await client.send(new SendTaskHeartbeatCommand({ taskToken }), { abortSignal: signal });
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
        return { rows: (found.stateMachines ?? []).map(toMachine), ...given("next", found.nextToken) };
      }),
    tags: (arn, signal) =>
      look("ListTagsForResource", signal, async (client) => {
        const { tags } = await client.send(new ListTagsForResourceCommand({ resourceArn: arn }), {
          abortSignal: signal,
        });
        return Object.fromEntries((tags ?? []).map(({ key = "", value = "" }) => [key, value]));
      }),
    close: () => {
      if (options.client === undefined) made?.destroy();
    },
  };
};
