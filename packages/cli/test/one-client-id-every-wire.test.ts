import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "./eventually.ts";
import { type RawAnswer, type RawWire, wire2025, wire2026 } from "./raw-wire.ts";
import { type Exchange, formatTranscript } from "./transcript.ts";
import { configText, createWorkbench, documentOf, type Workbench } from "./workbench.ts";

const wires = "server:\n  wires: [2026-07-28, 2025-11-25, sep-1686, none]\n";

let bench: Workbench;
let url: string;
let modern: RawWire;
let legacy: RawWire;
beforeAll(async () => {
  bench = createWorkbench(`${wires}${configText}`);
  ({ url } = await bench.serveHere());
  modern = wire2026(url);
  legacy = await wire2025(url);
});
afterAll(() => bench.dispose());

const taskId = "786512e2-9e0d-44bd-8f29-789f320fe840";
const related = { "modelcontextprotocol.io/related-task": { taskId } };

const toBody = ({ result, error }: RawAnswer): Record<string, unknown> =>
  error === undefined ? (result ?? {}) : { error };

const send = async (
  wire: RawWire,
  name: string,
  method: string,
  params: Record<string, unknown>,
): Promise<Exchange> => ({
  wire: name,
  sent: `${method} ${JSON.stringify(params)}`,
  answer: toBody(await wire.request(method, params)),
});

/** Reads the task everywhere at the same time. Only the draft has a session that speaks it. */
const readEverywhere = async (draft: RawWire, title: string): Promise<readonly Exchange["answer"][]> => {
  const command = ["tasks", "show", taskId, "--config", "taskbridge.yaml", "--json"];
  const exchanges = await Promise.all([
    send(draft, "sep-1686", "tasks/get", { taskId, _meta: related }),
    send(legacy, "2025-11-25", "tasks/get", { taskId }),
    send(modern, "2026-07-28", "tasks/get", { taskId }),
    send(legacy, "none", "tools/call", { name: "task_status", arguments: { taskId } }),
    bench
      .run(command)
      .then((outcome) => ({ wire: "taskbridge", sent: command.join(" "), answer: documentOf(outcome) })),
  ]);
  process.stdout.write(formatTranscript(title, exchanges, new Map([[taskId, "TASK"]])));
  return exchanges.map(({ answer }) => answer);
};

test("a task under its client's ID is one execution, and the same on every wire", async () => {
  const draft = await wire2025(url);
  const params = {
    name: "wait",
    arguments: { file: "go" },
    _meta: { "modelcontextprotocol.io/task": { taskId, keepAlive: 600_000 } },
  };
  const call = draft.request("tools/call", params);
  await eventually(async () => (await modern.request("tasks/get", { taskId })).result?.["statusMessage"] !== undefined);
  expect(await readEverywhere(draft, "A client's ID, while its job runs")).toMatchObject([
    { taskId, status: "working", keepAlive: 600_000, _meta: related },
    { taskId, status: "working" },
    { taskId, status: "working" },
    { structuredContent: { taskId, taskStatus: "working" } },
    { taskId: expect.stringContaining(taskId), state: "running" },
  ]);
  const again = await send(draft, "sep-1686", "tools/call", params);
  process.stdout.write(formatTranscript("It is sent again", [again], new Map([[taskId, "TASK"]])));
  expect(again.answer).toMatchObject({ error: { code: -32_602, message: `Task ID already exists: ${taskId}` } });

  bench.release("go");
  const answered = await call;
  expect(answered.result).toMatchObject({ isError: false, _meta: related });
  const ended = await readEverywhere(draft, "A client's ID, when its job has ended");
  expect(ended).toMatchObject([
    { taskId, status: "completed" },
    { taskId, status: "completed" },
    { taskId, status: "completed", result: { content: answered.result?.["content"] } },
    { isError: false },
    { state: "succeeded" },
  ]);
  const results = await Promise.all([
    send(draft, "sep-1686", "tasks/result", { taskId, _meta: related }),
    send(legacy, "2025-11-25", "tasks/result", { taskId }),
  ]);
  process.stdout.write(formatTranscript("Its result", results, new Map([[taskId, "TASK"]])));
  for (const { answer } of results) expect(answer).toMatchObject({ content: answered.result?.["content"] });
  const listed = await bench.run(["tasks", "list", "--config", "taskbridge.yaml", "--json"]);
  expect((documentOf(listed)["tasks"] as readonly object[]).length).toBe(1);
});
