import { answerTo, type Order } from "./orders.ts";

/** What is there when all is over. */
export interface KillReport {
  readonly records: readonly {
    readonly taskId: string;
    readonly startKey: string;
    readonly order: Order;
    readonly state: string;
    readonly message: string | undefined;
    /** What a client is given for it, as text. */
    readonly read: string | undefined;
  }[];
  /** All that were really started, as they really are. */
  readonly executions: readonly {
    /** Its start key. */
    readonly label: string | undefined;
    readonly state: string;
    readonly result?: string;
  }[];
  /** Task IDs that a client has been given. */
  readonly acknowledged: readonly string[];
  /** The keys of the questions that were asked, by task and step. */
  readonly asked: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

type Seen = KillReport["records"][number];

/** How an execution of an order ends, and what it puts out. */
const wantedOf = ({
  kind,
  n,
}: Order): { readonly execution: string; readonly state: string; readonly text?: string } => {
  if (kind === "endless") return { execution: "CANCELLED", state: "cancelled" };
  const output = kind === "asks" ? { first: answerTo(n, "first"), second: answerTo(n, "second") } : {};
  return { execution: "SUCCEEDED", state: "succeeded", text: JSON.stringify(output) };
};

/** A task that says so promises nothing of its execution, but that it does not go on. */
export const isUnknown = ({ state, message }: Seen): boolean =>
  state === "failed" && message?.startsWith("start outcome unknown") === true;

const recordFaults = (seen: Seen, { executions, asked }: KillReport): readonly string[] => {
  const { taskId, startKey, order, state, message, read } = seen;
  const own = executions.filter(({ label }) => label === startKey);
  const faults: string[] = [];
  if (own.length > 1) faults.push(`${taskId} has ${own.length} executions`);
  for (const [name, keys] of asked.get(taskId) ?? [])
    if (keys.size > 1) faults.push(`${taskId} was asked ${name} ${keys.size} times`);
  if (isUnknown(seen)) {
    if (own.some((one) => one.state === "ACTIVE")) faults.push(`${taskId} is given up, and its execution goes on`);
    return faults;
  }
  const wanted = wantedOf(order);
  const [execution] = own;
  // A cancel may come before anything is started.
  if (execution === undefined && order.kind !== "endless") faults.push(`${taskId} has no execution`);
  if (execution !== undefined && (execution.state !== wanted.execution || execution.result !== wanted.text))
    faults.push(`${taskId} (${order.kind}) has an execution that is ${execution.state}: ${execution.result}`);
  if (state !== wanted.state) faults.push(`${taskId} (${order.kind}) is ${state}: ${message}`);
  if (read !== wanted.text) faults.push(`${taskId} (${order.kind}) is read as ${read}`);
  return faults;
};

/** What is wrong with what came of it; nothing, where all is well. */
export const findFaults = (report: KillReport): readonly string[] => {
  const { records, executions, acknowledged } = report;
  const keys = new Set<string | undefined>(records.map(({ startKey }) => startKey));
  const taskIds = new Set(records.map(({ taskId }) => taskId));
  return [
    ...executions.filter(({ label }) => !keys.has(label)).map(({ label }) => `${label} runs for no record`),
    ...records.flatMap((record) => recordFaults(record, report)),
    ...acknowledged.filter((taskId) => !taskIds.has(taskId)).map((taskId) => `${taskId} was promised and is not there`),
  ];
};
