import type { Prepare } from "@taskbridge/core";
import { eventually } from "../serve.ts";
import { type Client20260728, callForTask } from "./client-2026-07-28.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

/** Keys of what a task asks. */
export const questionKeys = (task: Readonly<Record<string, unknown>> | undefined): readonly string[] =>
  Object.keys((task?.inputRequests as object) ?? {});

const question: Scenario<Client20260728> = {
  name: "question",
  play: async ({ client, backend, clock, settle }) => {
    const taskId = await callForTask(client);
    backend.of().ask({ name: "first", message: "Delete 14 files?", schema: yes });
    backend.of().ask({ name: "second", message: "Which?", schema: { type: "array", items: { type: "integer" } } });
    await settle();
    const { result } = await client.request("tasks/get", { taskId });
    const [first = "", second = ""] = questionKeys(result);
    await client.request("tasks/get", { taskId }, { capabilities: {} });
    const update = (inputResponses: object) => client.request("tasks/update", { taskId, inputResponses });
    const answered = (count: number) => eventually(() => backend.of().answers.length === count);
    await update({ [first]: { action: "accept", content: { ok: "yes" } } });
    await update({ [second]: { action: "accept", content: { json: "[1," } } });
    await client.request("tasks/get", { taskId });
    await clock.advance(1_000);
    await update({ [first]: { action: "accept", content: { ok: true } }, unknown: { action: "accept" } });
    await answered(1);
    await settle();
    await client.request("tasks/get", { taskId });
    await update({ [second]: { action: "cancel" } });
    const { result: again } = await client.request("tasks/get", { taskId });
    const [third = ""] = questionKeys(again);
    await clock.advance(1_000);
    await update({ [third]: { action: "accept", content: { json: "[1,2]" } } });
    await answered(2);
    await settle();
    await client.request("tasks/get", { taskId });
    backend.of().succeed("deleted");
    await settle();
    await client.request("tasks/get", { taskId });
    await update({ [first]: { action: "decline" } });
  },
};

/** Asks for a name before anything starts. */
const prepare: Prepare = (input, { who }) => {
  const schema = { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] };
  if (who === undefined) return { questions: { who: { message: "Who?", schema } } };
  return who.action === "accept" ? { input } : { refused: "No name, no job." };
};

const questionBefore: Scenario<Client20260728> = {
  name: "question-before-the-task",
  options: { tools: [fakeTool("job", { prepare })] },
  play: async ({ client }) => {
    const call = (more: object = {}) => client.request("tools/call", { name: "job", arguments: {}, ...more });
    const { result } = await call();
    const requestState = String(result?.requestState);
    await call({ requestState: "forged", inputResponses: {} });
    await call({ requestState, inputResponses: { who: { action: "accept", content: { name: "" } } } });
    await call({ requestState, inputResponses: { who: { action: "decline" } } });
    await call({ requestState, inputResponses: { who: { action: "accept", content: { name: "Ada" } } } });
  },
};

/** What is asked, and how it is answered. */
export const questions20260728: readonly Scenario<Client20260728>[] = [question, questionBefore];
