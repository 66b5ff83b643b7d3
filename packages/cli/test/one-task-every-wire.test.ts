import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { type RawAnswer, type RawWire, wire2025, wire2026 } from "./raw-wire.ts";
import { type Exchange, formatTranscript } from "./transcript.ts";
import { configText, createWorkbench, documentOf, type Spawned, type Workbench } from "./workbench.ts";

// A job that is done at once may be answered without a task, unless its tool says otherwise.
const more =
  "  - { name: must_echo, adapter: local, target: { command: [sh, job.sh, echo] }, task: { support: required, pollIntervalMs: 100 } }\n" +
  "  - { name: must_fail, adapter: local, target: { command: [sh, job.sh, fail] }, task: { support: required, pollIntervalMs: 100 } }\n" +
  '  - { name: approve, adapter: local, target: { command: [sh, job.sh, wait_ask, "{{input.file}}"] }, task: { pollIntervalMs: 100 } }\n';

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench(`${configText}${more}`);
});
afterAll(() => bench.dispose());

/** What stands for IDs and folders in the transcripts. */
const names = new Map<string, string>();

const print = (title: string, exchanges: readonly Exchange[]): void =>
  void process.stdout.write(formatTranscript(title, exchanges, names));

const send = async (wire: RawWire, method: string, params: Record<string, unknown>): Promise<Exchange> => ({
  wire: wire.name,
  sent: `${method} ${JSON.stringify(params)}`,
  answer: toBody(await wire.request(method, params)),
});

const toBody = ({ result, error }: RawAnswer): Record<string, unknown> =>
  error === undefined ? (result ?? {}) : { error };

const show = async (taskId: string): Promise<Exchange> => {
  const command = ["tasks", "show", taskId, "--config", "taskbridge.yaml", "--json"];
  return { wire: "taskbridge", sent: command.join(" "), answer: documentOf(await bench.run(command)) };
};

/** Reads one task everywhere at the same time. */
const readEverywhere = async (title: string, taskId: string): Promise<readonly Exchange["answer"][]> => {
  const exchanges = await Promise.all([
    send(modern, "tasks/get", { taskId }),
    send(legacy, "tasks/get", { taskId }),
    show(taskId),
  ]);
  print(title, exchanges);
  return exchanges.map(({ answer }) => answer);
};

/** Waits for a state on 2026-07-28; every other wire reads the same record. */
const reaches = (taskId: string, isIt: (task: Record<string, unknown>) => boolean): Promise<void> =>
  eventually(async () => isIt((await modern.request("tasks/get", { taskId })).result ?? {}));

const jobHasEnded = async (taskId: string): Promise<boolean> => {
  const { record } = documentOf(await bench.run(["tasks", "explain", taskId, "--config", "taskbridge.yaml", "--json"]));
  return (record as { slotHeld: boolean }).slotHeld === false;
};

const connect = async (): Promise<void> => {
  server = await bench.serve(["--port", port]);
  modern = wire2026(server.url);
  legacy = await wire2025(server.url);
};

let port: string;
let server: Spawned & { readonly url: string };
let modern: RawWire;
let legacy: RawWire;
/** Made through 2025-11-25, 2026-07-28 and the command line: waits, asks, is cancelled; fails; succeeds. */
let asking: string;
let failing: string;
let succeeding: string;

beforeAll(async () => {
  port = await freePort();
  await connect();
  const first = await send(legacy, "tools/call", { name: "approve", arguments: { file: "asks" }, task: {} });
  const second = await send(modern, "tools/call", { name: "must_fail", arguments: {} });
  const command = ["call", "must_echo", "--url", server.url, "--input", '{"a":1}', "--json"];
  const third = { wire: "taskbridge", sent: command.join(" "), answer: documentOf(await bench.run(command)) };
  asking = (first.answer["task"] as { taskId: string }).taskId;
  failing = String(second.answer["taskId"]);
  succeeding = String(third.answer["taskId"]);
  names.set(asking, "TASK-1").set(failing, "TASK-2").set(succeeding, "TASK-3").set(server.url, "URL");
  print("Three tasks, each made in another way", [first, second, third]);
});

const question = { message: "Delete 14 files?" };
const cause = "exit code 3: the disk is full";
const ok = '{"a":1}';
const text = (said: string): object => ({ type: "text", text: said });
const related = (taskId: string): object => ({ "io.modelcontextprotocol/related-task": { taskId } });

/** What each wire demands of a state, in the order of `readEverywhere`. */
const demanded = {
  working: [
    { resultType: "complete", status: "working", statusMessage: "1 of 2: half way" },
    { status: "working", statusMessage: "1 of 2: half way" },
    { state: "running", progress: { done: 1, total: 2, message: "half way" }, questions: [] },
  ],
  asking: [
    { status: "input_required", inputRequests: expect.anything() },
    { status: "input_required" },
    { state: "waiting", questions: [question] },
  ],
  cancelled: [{ status: "cancelled" }, { status: "cancelled" }, { state: "cancelled", questions: [] }],
  failed: [
    { status: "completed", result: { isError: true, content: [text(cause), {}] } },
    { status: "failed", statusMessage: cause },
    { state: "failed", failure: { reason: cause } },
  ],
  succeeded: [
    { status: "completed", result: { isError: false, content: [text(ok)] } },
    { status: "completed" },
    { state: "succeeded", result: { a: 1 } },
  ],
};

/** The states in which the restart finds the tasks. */
const readAll = async (when: string): Promise<readonly Exchange["answer"][]> => {
  const first = await readEverywhere(`1 asks a question, ${when}`, asking);
  expect(first).toMatchObject(demanded.asking);
  expect(Object.values(first[0]?.["inputRequests"] ?? {})).toMatchObject([
    { method: "elicitation/create", params: question },
  ]);
  const second = await readEverywhere(`2 has failed, ${when}`, failing);
  expect(second).toMatchObject(demanded.failed);
  const third = await readEverywhere(`3 has succeeded, ${when}`, succeeding);
  expect(third).toMatchObject(demanded.succeeded);
  return [...first, ...second, ...third];
};

// One story: each test goes on where the one before it has ended.

test("a task that works", async () => {
  await reaches(asking, ({ statusMessage }) => statusMessage !== undefined);
  expect(await readEverywhere("1 works", asking)).toMatchObject(demanded.working);
});

test("a task that asks, one that has failed, one that has succeeded: before and after a restart (case 1)", async () => {
  bench.release("asks");
  await reaches(asking, ({ status }) => status === "input_required");
  await reaches(failing, ({ status }) => status === "completed");
  const before = await readAll("before the restart");

  server.kill("SIGKILL");
  await server.done;
  const alone = await show(asking);
  print("The server is killed: the store and the job are still there", [alone]);
  expect(alone.answer).toMatchObject({ state: "waiting", questions: [question] });

  const ofBefore = legacy;
  await connect();
  const goneOn = await send(ofBefore, "tasks/get", { taskId: asking });
  print("A session outlives its server, as a task does, because the store keeps its key", [goneOn]);
  expect(goneOn.answer).toMatchObject({ taskId: asking, status: "input_required" });
  // Intervals follow the age of a task, and nothing else has changed.
  const withoutIntervals = (answers: readonly object[]): readonly object[] =>
    answers.map((answer) => ({ ...answer, pollInterval: 0, pollIntervalMs: 0 }));
  expect(withoutIntervals(await readAll("after the restart"))).toEqual(withoutIntervals(before));
});

test("a task that 2025-11-25 cancels: on every wire at once, and for good", async () => {
  const cancelled = await send(legacy, "tasks/cancel", { taskId: asking });
  print("1 is cancelled through 2025-11-25", [cancelled]);
  expect(cancelled.answer).toMatchObject({ taskId: asking, status: "cancelled" });
  expect(await readEverywhere("1 is cancelled everywhere", asking)).toMatchObject(demanded.cancelled);
  await eventually(() => jobHasEnded(asking));
  expect(await readEverywhere("1 stays so when its job has ended", asking)).toMatchObject(demanded.cancelled);

  const again = await Promise.all([
    send(modern, "tasks/cancel", { taskId: asking }),
    send(legacy, "tasks/cancel", { taskId: asking }),
    send(legacy, "tasks/result", { taskId: asking }),
  ]);
  print("1 is cancelled again, and its result asked for", again);
  expect(again.map(({ answer }) => answer)).toMatchObject([
    { resultType: "complete" },
    { error: { code: -32_602 } },
    { error: { code: -32_603, message: "Task was cancelled" } },
  ]);
});

test("the results apart, and the list, which only 2025-11-25 has", async () => {
  const ended = [failing, succeeding];
  const results = await Promise.all(ended.map((taskId) => send(legacy, "tasks/result", { taskId })));
  print("What the calls of 2 and 3 would have answered", results);
  expect(results.map(({ answer }) => answer)).toMatchObject([
    { isError: true, content: [text(cause), {}], _meta: related(failing) },
    { isError: false, content: [text(ok)], _meta: related(succeeding) },
  ]);
  const lists = await Promise.all([send(modern, "tasks/list", {}), send(legacy, "tasks/list", {})]);
  print("All tasks, newest first", lists);
  expect(lists.map(({ answer }) => answer)).toMatchObject([
    { error: { code: -32_601 } },
    {
      tasks: [
        { taskId: succeeding, status: "completed" },
        { taskId: failing, status: "failed" },
        { taskId: asking, status: "cancelled" },
      ],
    },
  ]);
});
