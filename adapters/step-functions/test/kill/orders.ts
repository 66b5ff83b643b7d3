import type { JsonObject } from "@taskbridge/core/adapter";
import type { ExecutionFacts } from "../facade/execution.ts";
import { type AskStep, ask, runsOn, type Script, state } from "../facade/script.ts";
import type { SeenTask, TaskClient } from "../task-client.ts";

/** What a call of the tool `work` brings about. */
export interface Order {
  readonly n: number;
  /** `asks`: two questions, one after the other. `endless`: to be cancelled by its client. `until-reported`: to be ended by the test. */
  readonly kind: "works" | "asks" | "endless" | "until-reported";
  readonly ms: number;
}

export const readOrder = (input: string): Order => JSON.parse(input) as Order;

const requestedSchema = { type: "object", properties: { n: { type: "integer" }, state: { type: "string" } } };
const question = (name: string): AskStep => ask(name, { mcp: { message: name, requestedSchema } });

/** The machine `orders`. What is answered comes out again, by the state's name. */
export const orders = ({ input }: ExecutionFacts): Script => {
  const { kind, ms } = readOrder(input);
  if (kind === "works") return { steps: [state("Work", ms)], end: { succeed: {} } };
  if (kind !== "asks") return runsOn;
  const succeed = ({ First = null, Second = null }): JsonObject => ({ First, Second });
  return { steps: [question("First"), question("Second")], end: { succeed } };
};

/** What a person would answer here: the same to the same question of the same order. */
export const answerTo = (n: number, state: string): JsonObject => ({ n, state });

/** The keys of the questions that a client was asked, by the states' names. */
export type Asked = Map<string, Set<string>>;

export interface Attended {
  readonly taskId: string;
  readonly order: Order;
  readonly asked: Asked;
  /** The name of a state whose question is not answered. */
  readonly leaves?: string;
}

/** Does once what a client does for a task: answers what is asked, and cancels what would not end. */
export const attendOnce = async (
  client: TaskClient,
  { taskId, order: { n, kind }, asked, leaves }: Attended,
): Promise<SeenTask> => {
  const task = await client.get(taskId);
  const requests = task.status === "input_required" ? Object.entries(task.inputRequests ?? {}) : [];
  for (const [key, { params }] of requests) {
    const name = String(params.message);
    asked.set(name, (asked.get(name) ?? new Set()).add(key));
    const inputResponses = { [key]: { action: "accept", content: answerTo(n, name) } };
    if (name !== leaves) await client.request("tasks/update", { taskId, inputResponses });
  }
  if (kind === "endless" && task.status === "working") await client.request("tasks/cancel", { taskId });
  return task;
};

export const hasEnded = ({ status }: SeenTask): boolean => status !== "working" && status !== "input_required";
