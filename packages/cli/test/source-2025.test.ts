import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { connectTaskClient, type TaskClientOptions } from "../src/task-client.ts";
import { isOver, type TaskSource, type TaskStatus } from "../src/task-source.ts";
import { freePort } from "./free-port.ts";
import { configText, createWorkbench, documentOf, type Workbench } from "./workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

const sources: TaskSource[] = [];
afterEach(() => Promise.all(sources.splice(0).map((source) => source.close())));

const forever = new AbortController().signal;

/** A server that serves these generations only. */
const serveWires = async (wires: string): Promise<string> => {
  const file = join(bench.folder, `${wires.replaceAll(/\W+/g, "-")}.yaml`);
  writeFileSync(file, `server: { wires: [${wires}] }\n${configText}`);
  return (await bench.serveHere(["--port", "0", "--config", file])).url;
};

const connect = async (url: string, options: Partial<TaskClientOptions> = {}): Promise<TaskSource> => {
  const source = await connectTaskClient({
    url: new URL(url),
    wire: "2025-11-25",
    asks: true,
    onTrouble: () => {},
    ...options,
  });
  sources.push(source);
  return source;
};

const callForTask = async (source: TaskSource, tool: string, input: JsonObject = {}): Promise<TaskStatus> => {
  const outcome = await source.callTool(tool, input, { ask: async () => ({}), signal: forever });
  if (outcome.kind !== "task") throw new Error(`no task: ${outcome.result.text}`);
  return outcome.task;
};

/** Looks until the status fits. */
const follow = async (
  source: TaskSource,
  task: TaskStatus,
  fits: (task: TaskStatus) => boolean,
): Promise<TaskStatus> => {
  let status = task;
  while (!fits(status)) status = await source.nextStatus(status, forever);
  return status;
};

const asksSomething = ({ questions }: TaskStatus): boolean => questions.length > 0;

describe("questions", () => {
  let url: string;
  beforeAll(async () => {
    url = (await bench.serveHere()).url;
  });

  test("come by a request of the server, and the answer goes back", async () => {
    const source = await connect(url);
    const asking = await follow(source, await callForTask(source, "ask"), asksSomething);
    const [question] = asking.questions;
    expect(asking).toMatchObject({ state: "waiting", questions: [{ message: "Delete 14 files?" }] });
    expect(question?.schema).toMatchObject({ properties: { ok: { type: "boolean" } }, required: ["ok"] });
    const answer = { [question?.key ?? ""]: { action: "accept" as const, content: { ok: true } } };
    expect(await source.answerTask(asking.taskId, answer)).toEqual([]);
    const ended = await follow(source, asking, isOver);
    expect(ended).toMatchObject({ state: "succeeded", questions: [] });
    expect(await source.readResult(ended)).toMatchObject({
      json: { answer: { action: "accept", content: { ok: true } } },
    });
  });

  test("an answer given elsewhere closes it here", async () => {
    const source = await connect(url);
    const asking = await follow(source, await callForTask(source, "ask"), asksSomething);
    const elsewhere = ["tasks", "answer", asking.taskId, "--config", bench.config, "--action", "decline"];
    expect((await bench.run(elsewhere)).code).toBe(0);
    const ended = await follow(source, asking, isOver);
    expect(ended.state).toBe("succeeded");
    const late = Object.fromEntries(asking.questions.map(({ key }) => [key, { action: "accept" as const }]));
    expect(await source.answerTask(asking.taskId, late)).toEqual(asking.questions.map(({ key }) => key));
  });

  test("a command that can ask nobody leaves them to others", async () => {
    const alone = await connect(url, { asks: false });
    const task = await callForTask(alone, "ask");
    const reported = await follow(alone, task, ({ message }) => message !== undefined);
    expect(reported).toMatchObject({
      state: "running",
      message: "waits for an answer that this client cannot give: Delete 14 files?",
      questions: [],
    });
    const other = await connect(url);
    const asking = await follow(other, await other.readTask(task.taskId), asksSomething);
    expect(asking.questions).toMatchObject([{ message: "Delete 14 files?" }]);
    expect((await bench.run(["tasks", "cancel", task.taskId, "--url", url])).code).toBe(0);
  });
});

test("a server that was started anew: another session, the same task, the question again", async () => {
  const port = await freePort();
  const troubles: string[] = [];
  const first = await bench.serveHere(["--port", port]);
  const source = await connect(first.url, { onTrouble: (message) => troubles.push(message) });
  const asking = await follow(source, await callForTask(source, "ask"), asksSomething);
  // One that is killed leaves its claim of the question for half a minute.
  first.kill("SIGTERM");
  await first.done;
  const before = new Set(asking.questions.map(({ key }) => key));
  const again = follow(source, asking, ({ questions }) => questions.some(({ key }) => !before.has(key)));
  await bench.serveHere(["--port", port]);
  const { taskId, questions } = await again;
  expect(taskId).toBe(asking.taskId);
  const [question] = questions.filter(({ key }) => !before.has(key));
  expect(question?.message).toBe("Delete 14 files?");
  expect(await source.answerTask(taskId, { [question?.key ?? ""]: { action: "decline" } })).toEqual([]);
  const ended = await follow(source, await source.readTask(taskId), isOver);
  expect(await source.readResult(ended)).toMatchObject({ json: { answer: { action: "decline" } } });
});

describe("auto", () => {
  test.each([
    ["2026-07-28, 2025-11-25, none", "command", false],
    ["2025-11-25, none", "follower", true],
  ])("%s: answered by the %s", async (wires, answeredBy, namesWire) => {
    const source = await connect(await serveWires(wires), { wire: "auto" });
    expect(source.answeredBy).toBe(answeredBy);
    expect(source.flags.includes("--wire 2025-11-25")).toBe(namesWire);
    // One that ends while it is begun may be answered without a task.
    const file = `auto-${answeredBy}`;
    const { taskId } = await callForTask(source, "wait", { file });
    bench.release(file);
    expect(await follow(source, await source.readTask(taskId), isOver)).toMatchObject({ state: "succeeded" });
  });

  test("neither generation: a plain call, and no wire by name", async () => {
    const url = await serveWires("none");
    const source = await connect(url, { wire: "auto" });
    const outcome = await source.callTool("echo", { a: 1 }, { ask: async () => ({}), signal: forever });
    expect(outcome).toMatchObject({ kind: "result", result: { json: { a: 1 } }, failed: false });
    await expect(connect(url)).rejects.toMatchObject({
      exitCode: 1,
      message: `${url}: the server does not offer the tasks of 2025-11-25`,
    });
    const called = await bench.run(["call", "echo", "--url", url, "--input", '{"a":1}', "--json"]);
    expect(documentOf(called)).toMatchObject({ state: "succeeded", result: { a: 1 } });
  });
});
