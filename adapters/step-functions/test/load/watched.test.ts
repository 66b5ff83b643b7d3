import { setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import "../aws-environment.ts";
import { type Facade, startFacade } from "../facade/facade.ts";
import { ask, runsOn, state } from "../facade/script.ts";
import { startServer } from "../server-process.ts";
import { type SeenTask, taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import { toText } from "./percentile.ts";
import { startAll } from "./start-all.ts";

/** `npm run soak` raises these to 2,000, 10,000, 500 and 60,000. */
const sizeOf = (name: string, size: number): number => Number(process.env[`TASKBRIDGE_LOAD_${name}`] ?? size);
const running = sizeOf("EXECUTIONS", 100);
const foreign = sizeOf("FOREIGN", 1_000);
const ends = sizeOf("ENDS", 25);
const watchedMs = sizeOf("WATCHED_MS", 6_000);
/** Every so manieth asks, so long after its start. */
const asksEvery = 50;
const asksAfterMs = watchedMs / 3;

/** What the README states: a question takes up to the number of running executions by this longer, in seconds. */
const historiesPerSecond = 12;

interface Frame {
  readonly task: SeenTask;
  readonly at: number;
}

const tasksPerStream = 100;

const limited = ["DescribeExecution", "ListExecutions", "GetExecutionHistory"] as const;

const countCalls = ({ counts, requests }: Facade, since: number, ms: number): string =>
  limited
    .map((action) => {
      const during = requests.filter((request) => request.action === action && request.at >= since).length;
      return `${action} ${((during * 1_000) / ms).toFixed(1)}/s (${counts[action]?.throttled ?? 0} refused)`;
    })
    .join(", ");

it(`${running} running executions, all watched, among ${foreign} foreign ones stay within the published rates, and ends and questions are noticed in time`, async () => {
  const facade = await startFacade();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-load-"));
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const asks = (n: number): boolean => n % asksEvery === 0;
  const machine = facade.machine("orders", ({ input }) =>
    asks((JSON.parse(input) as { n?: number }).n ?? 1)
      ? { steps: [state("Work", asksAfterMs), ask("Approve")] }
      : runsOn,
  );
  facade.populate(machine, foreign / 2, "older");
  const server = await startServer(new URL("./load-server.mjs", import.meta.url), {
    FOLDER: folder,
    ENDPOINT: facade.endpoint,
  });
  try {
    if (server === undefined) throw new Error("the server did not start");
    const client = taskClient(server.url);
    const taskIds = await startAll(client, running);
    facade.populate(machine, foreign / 2, "newer");
    const seen = new Map<string, Frame[]>(taskIds.map((taskId) => [taskId, []]));
    for (let from = 0; from < running; from += tasksPerStream)
      void client.listen(
        taskIds.slice(from, from + tasksPerStream),
        (task, at) => seen.get(task.taskId)?.push({ task, at }),
        stop.signal,
      );
    const ours = facade.executions(machine).filter(({ name }) => name.startsWith("mcp-"));
    expect(ours).toHaveLength(running);
    const since = Date.now();
    const numberOf = (input: string): number => (JSON.parse(input) as { n: number }).n;
    await sleep(watchedMs / 2);
    const intervals = [...seen.values()].map((frames) => frames.at(-1)?.task.pollIntervalMs ?? 0);
    const advertised = Math.max(
      ...(await Promise.all(taskIds.slice(0, 5).map((id) => client.get(id)))).map(
        ({ pollIntervalMs = 0 }) => pollIntervalMs,
      ),
      ...intervals,
    );
    const ending = ours.filter(({ input }) => !asks(numberOf(input))).slice(0, ends);
    const endedAt = Date.now();
    for (const { arn } of ending) facade.end(arn, { status: "SUCCEEDED", output: "{}" });
    const noticed =
      (status: SeenTask["status"]) =>
      (taskId: string): Frame | undefined =>
        seen.get(taskId)?.find(({ task }) => task.status === status);
    const endingIds = ending.map(({ input }) => taskIds[numberOf(input)] ?? "");
    const askingIds = taskIds.filter((_, n) => asks(n));
    await until("all ends are noticed", async () => endingIds.every(noticed("completed")) || undefined, 120_000);
    await until(
      "all questions are noticed",
      async () => askingIds.every(noticed("input_required")) || undefined,
      240_000,
    );
    await sleep(Math.max(0, since + watchedMs - Date.now()));
    const ms = Date.now() - since;
    const late = endingIds.map((taskId) => (noticed("completed")(taskId)?.at ?? 0) - endedAt);
    const startedAt = new Map(ours.map(({ input, startedAt: at }) => [taskIds[numberOf(input)], at]));
    const lateQuestions = askingIds.map(
      (taskId) => (noticed("input_required")(taskId)?.at ?? 0) - (startedAt.get(taskId) ?? 0) - asksAfterMs,
    );
    const questionsWithin = (1_000 * running) / historiesPerSecond + 2 * advertised;
    process.stderr.write(
      `watched: ${running} executions among ${foreign} foreign ones for ${ms} ms: ${countCalls(facade, since, ms)}; ` +
        `${ends} ends at once noticed after ${toText(late)}, advertised ${advertised} ms; ` +
        `${askingIds.length} questions after ${toText(lateQuestions)}, stated ${questionsWithin} ms\n`,
    );
    for (const action of limited) expect([action, facade.counts[action]?.throttled]).toEqual([action, 0]);
    expect(Math.max(...late)).toBeLessThan(2 * advertised);
    expect(Math.max(...lateQuestions)).toBeLessThan(questionsWithin);
  } finally {
    stop.abort();
    server?.signal("SIGKILL");
    await server?.gone;
    await facade.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 590_000);
