import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import type { ExecutionTruth } from "../fake/fake.ts";
import { awaitCallback, runsOn, step } from "../fake/script.ts";
import type { SeenTask } from "../task-client.ts";
import { until } from "../until.ts";
import { maxPerMinute, openLoad } from "./load-scene.ts";
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

/** Published: https://cloud.google.com/workflows/quotas */
const quotas = { getExecution: 6_000, listExecutions: 1_200 } as const;
/** Steps that have changed are listed every few seconds, and told at the look that follows. */
const questionsWithinMs = 30_000;
const tasksPerStream = 100;

interface Frame {
  readonly task: SeenTask;
  readonly at: number;
}

const numberOf = ({ argument }: Pick<ExecutionTruth, "argument">): number =>
  (JSON.parse(argument ?? "{}") as { n?: number }).n ?? Number.NaN;
const asks = (n: number): boolean => n % asksEvery === 0;

it(`${running} running executions, all watched, among ${foreign} foreign ones stay within the published quotas, and ends and questions are noticed in time`, async () => {
  const asking = { steps: [step("work", asksAfterMs), awaitCallback("approve")] };
  const scene = await openLoad({ script: (facts) => (asks(numberOf(facts)) ? asking : runsOn) });
  const { fake, workflow, client } = scene;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  try {
    fake.populate(workflow, foreign / 2);
    const taskIds = await startAll(client, running);
    fake.populate(workflow, foreign / 2);
    const seen = new Map<string, Frame[]>(taskIds.map((taskId) => [taskId, []]));
    for (let from = 0; from < running; from += tasksPerStream)
      void client.listen(
        taskIds.slice(from, from + tasksPerStream),
        (task, at) => seen.get(task.taskId)?.push({ task, at }),
        stop.signal,
      );
    const ours = fake.executions(workflow).filter(({ labels }) => labels.mcp_run !== undefined);
    expect(ours).toHaveLength(running);
    const since = Date.now();
    await sleep(watchedMs / 2);
    const polled = await Promise.all(taskIds.slice(0, 5).map((taskId) => client.get(taskId)));
    const reported = [...polled, ...[...seen.values()].flatMap((frames) => frames.slice(-1).map(({ task }) => task))];
    const advertised = Math.max(...reported.map(({ pollIntervalMs = 0 }) => pollIntervalMs));
    const ending = ours.filter((one) => !asks(numberOf(one))).slice(0, ends);
    const endedAt = Date.now();
    for (const { name } of ending) fake.end(name, { state: "SUCCEEDED", result: "{}" });
    const noticed =
      (status: SeenTask["status"]) =>
      (taskId: string): Frame | undefined =>
        seen.get(taskId)?.find(({ task }) => task.status === status);
    const endingIds = ending.map((one) => taskIds[numberOf(one)] ?? "");
    const askingIds = taskIds.filter((_, n) => asks(n));
    const questionsWithin = questionsWithinMs + 4 * advertised;
    await until("all ends are noticed", async () => endingIds.every(noticed("completed")) || undefined, 120_000);
    const areAsked = async (): Promise<true | undefined> => askingIds.every(noticed("input_required")) || undefined;
    await until("all questions are noticed", areAsked, asksAfterMs + questionsWithin);
    await sleep(Math.max(0, since + watchedMs - Date.now()));
    const ms = Date.now() - since;
    const late = endingIds.map((taskId) => (noticed("completed")(taskId)?.at ?? 0) - endedAt);
    const startedAt = new Map(ours.map((one) => [taskIds[numberOf(one)], one.createdAt]));
    const lateQuestions = askingIds.map((taskId) => {
      const askedAt = (startedAt.get(taskId) ?? 0) + asksAfterMs;
      // Starts take their time: what is asked before the last one is watched from then on.
      return (noticed("input_required")(taskId)?.at ?? 0) - Math.max(askedAt, since);
    });
    const calls = (["getExecution", "listExecutions", "listCallbacks", "listStepEntries"] as const).map((method) => {
      const { asked, throttled } = fake.journal.count(method, since);
      return `${method} ${asked} (most ${maxPerMinute(fake, method, since)} in a minute, ${throttled} refused)`;
    });
    process.stderr.write(
      `watched: ${running} executions among ${foreign} foreign ones for ${ms} ms: ${calls.join(", ")}; ` +
        `quotas get ${quotas.getExecution}, list ${quotas.listExecutions} a minute; ` +
        `${ends} ends at once noticed after ${toText(late)}, advertised ${advertised} ms; ` +
        `${askingIds.length} questions after ${toText(lateQuestions)}, at most ${questionsWithin} ms\n`,
    );
    for (const [method, quota] of Object.entries(quotas) as [keyof typeof quotas, number][]) {
      expect([method, fake.journal.count(method).throttled]).toEqual([method, 0]);
      expect(maxPerMinute(fake, method, 0)).toBeLessThanOrEqual(quota);
    }
    expect(Math.max(...late)).toBeLessThan(2 * advertised);
    expect(Math.max(...lateQuestions)).toBeLessThan(questionsWithin);
  } finally {
    stop.abort();
    await scene.close();
  }
}, 590_000);
