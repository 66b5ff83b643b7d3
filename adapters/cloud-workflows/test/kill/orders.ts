import type { JsonObject } from "@taskbridge/core/adapter";
import type { ExecutionFacts } from "../fake/execution.ts";
import { awaitCallback, runsOn, type Script, step } from "../fake/script.ts";
import type { SeenTask, TaskClient } from "../task-client.ts";

/** What a call of the tool `work` brings about. */
export interface Order {
  readonly n: number;
  /** `asks`: two questions, one after the other. `endless`: to be cancelled by its client. */
  readonly kind: "works" | "asks" | "endless";
  readonly ms: number;
}

export const readOrder = (argument: string | undefined): Order => JSON.parse(argument ?? "{}") as Order;

/** The workflow `orders`. What is answered comes out again, by the step's name. */
export const orders = ({ argument }: ExecutionFacts): Script => {
  const { kind, ms } = readOrder(argument);
  if (kind === "works") return { steps: [step("work", ms)], end: { succeed: {} } };
  if (kind !== "asks") return runsOn;
  const succeed = ({ first = null, second = null }): JsonObject => ({ first, second });
  return { steps: [awaitCallback("first"), awaitCallback("second")], end: { succeed } };
};

/** What a person would answer here: the same to the same question of the same order. */
export const answerTo = (n: number, name: string): JsonObject => ({ n, name });

/** The keys of the questions that a client was asked, by the steps' names. */
export type Asked = Map<string, Set<string>>;

export interface Attended {
  readonly taskId: string;
  readonly order: Order;
  readonly asked: Asked;
  /** The name of a step whose question is not answered. */
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
    const name = toStepName(params.message);
    asked.set(name, (asked.get(name) ?? new Set()).add(key));
    if (name === leaves) continue;
    // A form without fields is one of a JSON text.
    const content = toContent(params.requestedSchema, answerTo(n, name));
    await client.request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } });
  }
  if (kind === "endless" && task.status === "working") await client.request("tasks/cancel", { taskId });
  return task;
};

const toStepName = (message: unknown): string => (/^\w+/.exec(String(message)) ?? [""])[0];

const toContent = (schema: unknown, answer: JsonObject): JsonObject => {
  const [field] = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
  return field === undefined || field in answer ? answer : { [field]: JSON.stringify(answer) };
};

export const hasEnded = ({ status }: SeenTask): boolean => status !== "working" && status !== "input_required";
