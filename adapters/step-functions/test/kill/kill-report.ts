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
  readonly executions: readonly { readonly name: string; readonly status: string; readonly output?: string }[];
  /** Task IDs that a client has been given. */
  readonly acknowledged: readonly string[];
  /** The keys of the questions that were asked, by task and name. */
  readonly asked: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

type Seen = KillReport["records"][number];

/** How an execution of an order ends, and what it puts out. */
const wantedOf = ({ kind, n }: Order): { readonly status: string; readonly state: string; readonly text?: string } => {
  if (kind === "endless") return { status: "ABORTED", state: "cancelled" };
  const output = kind === "asks" ? { First: answerTo(n, "First"), Second: answerTo(n, "Second") } : {};
  return { status: "SUCCEEDED", state: "succeeded", text: JSON.stringify(output) };
};

const recordFaults = (
  { taskId, startKey, order, state, message, read }: Seen,
  { executions, asked }: KillReport,
): readonly string[] => {
  const wanted = wantedOf(order);
  const faults: string[] = [];
  const execution = executions.find(({ name }) => name === startKey);
  if (execution === undefined) {
    // What was cancelled before it was sent needs none.
    if (state !== "cancelled") faults.push(`${taskId} has no execution`);
  } else if (execution.status !== wanted.status || execution.output !== wanted.text)
    faults.push(`${taskId} (${order.kind}) has an execution that is ${execution.status}: ${execution.output}`);
  if (state !== wanted.state) faults.push(`${taskId} (${order.kind}) is ${state}: ${message}`);
  if (read !== wanted.text) faults.push(`${taskId} (${order.kind}) is read as ${read}`);
  for (const [name, keys] of asked.get(taskId) ?? [])
    if (keys.size > 1) faults.push(`${taskId} was asked ${name} ${keys.size} times`);
  return faults;
};

/** What is wrong with what came of it; nothing, where all is well. */
export const findFaults = (report: KillReport): readonly string[] => {
  const { records, executions, acknowledged } = report;
  const keys = new Set(records.map(({ startKey }) => startKey));
  const taskIds = new Set(records.map(({ taskId }) => taskId));
  const names = executions.map(({ name }) => name);
  return [
    ...names.filter((name) => !keys.has(name)).map((name) => `${name} runs for no record`),
    ...(new Set(names).size === names.length ? [] : ["a name was started twice"]),
    ...records.flatMap((record) => recordFaults(record, report)),
    ...acknowledged.filter((taskId) => !taskIds.has(taskId)).map((taskId) => `${taskId} was promised and is not there`),
  ];
};
