import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { listen } from "../listen-client.ts";
import { rpcClient } from "../rpc-client.ts";
import { type ServerProcess, startScript } from "../server-process.ts";

/** `npm run soak` raises these. */
const resultBytes = Number(process.env.TASKBRIDGE_LOAD_RESULT_BYTES ?? 4e6);
const jobs = Number(process.env.TASKBRIDGE_LOAD_PUSHED_ENDS ?? 5);

let folder: string;
let server: ServerProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-large-"));
  server = await startScript(fileURLToPath(new URL("./result-server.mjs", import.meta.url)), {
    FOLDER: folder,
    RESULT_BYTES: String(resultBytes),
  });
});
afterEach(async () => {
  server?.signal("SIGKILL");
  await server?.gone;
  await rm(folder, { recursive: true, force: true });
});

/** The longest hold-ups of an event loop since the last asking, in milliseconds. */
interface Delays {
  readonly serverMs: number;
  /** Of a process that does nothing: what a busy machine does to anybody. */
  readonly idleMs: number;
}

const longestDelays = async (url: string): Promise<Delays> => {
  const { result } = await rpcClient(url)("tools/call", { name: "delay" });
  const [first] = result.content as { text: string }[];
  return JSON.parse(first?.text ?? "") as Delays;
};

const untilEnded = async (url: string, taskId: string): Promise<Record<string, unknown>> => {
  for (let tries = 0; tries < 600; tries++, await sleep(100)) {
    const { result } = await rpcClient(url)("tasks/get", { taskId });
    if (result.status !== "working") return result;
  }
  throw new Error("the task does not end");
};

/** Reads a result through its link to the end, and checks each part against the line that it repeats. */
const readThrough = async (url: string, link: string): Promise<{ bytes: number; reads: number; isWhole: boolean }> => {
  const line = "größe 0123456789 abcdefghij\n";
  let next: string | undefined = link;
  let bytes = 0;
  let reads = 0;
  let isWhole = true;
  let rest = "";
  while (next !== undefined) {
    const answer = await rpcClient(url)("resources/read", { uri: next });
    const [part] = (answer.result.contents ?? []) as { text: string; _meta?: Record<string, unknown> }[];
    const text = part?.text ?? "";
    bytes += Buffer.byteLength(text);
    reads++;
    rest += text;
    const lines = Math.floor(rest.length / line.length);
    isWhole &&= rest.slice(0, lines * line.length) === line.repeat(lines);
    rest = rest.slice(lines * line.length);
    next = part?._meta?.["taskbridge/nextUri"] as string | undefined;
  }
  return { bytes, reads, isWhole: isWhole && rest === "" };
};

/** One job from its start to the last byte read. */
const makeAndRead = async (
  url: string,
): Promise<{ bytes: number; reads: number; isWhole: boolean; delays: Delays }> => {
  const { result } = await rpcClient(url)("tools/call", { name: "large" });
  const taskId = String(result.taskId);
  await longestDelays(url);
  const ended = await untilEnded(url, taskId);
  const { content } = ended.result as { content: { type: string; uri?: string }[] };
  const link = content.find(({ type }) => type === "resource_link")?.uri;
  expect(link).toBe(`taskbridge://tasks/${taskId}/result`);
  expect(JSON.stringify(ended).length).toBeLessThan(200_000);
  const read = await readThrough(url, String(link));
  return { ...read, delays: await longestDelays(url) };
};

describe("a large result", () => {
  it("is fetched in ranges through its resource link, and holds up the event loop for less than 100 ms", async () => {
    const url = server?.url ?? "";
    const runs: Awaited<ReturnType<typeof makeAndRead>>[] = [];
    const isQuick = ({ delays }: { delays: Delays }): boolean => delays.serverMs - delays.idleMs < 100;
    // What our code does, it does each time; what else the machine does is not the same three times in a row.
    for (let run = 0; run < 3 && !runs.some(isQuick); run++) runs.push(await makeAndRead(url));
    const [{ bytes, reads } = { bytes: 0, reads: 0 }] = runs;
    const reported = runs.map(
      ({ delays }) => `${delays.serverMs.toFixed(1)} ms (an idle process: ${delays.idleMs.toFixed(1)} ms)`,
    );
    process.stderr.write(
      `large result: ${bytes} bytes in ${reads} reads, event loop held up at worst for ${reported.join(", ")}\n`,
    );
    expect(runs.every(({ isWhole }) => isWhole)).toBe(true);
    expect(bytes).toBeGreaterThanOrEqual(resultBytes);
    expect(runs.some(isQuick)).toBe(true);
  }, 150_000);
});

/** How long after each of the jobs has said that it ends its client hears so, in milliseconds, sorted. */
const delaysOfEnds = async (url: string): Promise<readonly number[]> => {
  const delays: number[] = [];
  for (let job = 0; job < jobs; job++) {
    const { result } = await rpcClient(url)("tools/call", { name: "short" });
    const stream = await listen(url, { taskIds: [String(result.taskId)] });
    for (let message = await stream.next(); message !== undefined; message = await stream.next()) {
      const task = message.params as { status?: string; result?: { content: { text: string }[] } } | undefined;
      // The job prints when it ends.
      if (task?.status === "completed") delays.push(Date.now() - Number(task.result?.content[0]?.text));
    }
  }
  return delays.toSorted((a, b) => a - b);
};

const medianOf = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;

describe("a client that subscribed", () => {
  it("hears of the end within 100 ms, in the median of several jobs", async () => {
    const rounds: (readonly number[])[] = [];
    const isQuick = (delays: readonly number[]): boolean => medianOf(delays) < 100;
    // As above: a machine that is busy with something else is not so three times in a row.
    for (let round = 0; round < 3 && !rounds.some(isQuick); round++) rounds.push(await delaysOfEnds(server?.url ?? ""));
    const reported = rounds.map((delays) => `median ${medianOf(delays)} ms, longest ${delays.at(-1)} ms`);
    process.stderr.write(`push: ${jobs} ends, ${reported.join("; ")} after the job said so\n`);
    expect(rounds.map(({ length }) => length)).toEqual(rounds.map(() => jobs));
    expect(rounds.some(isQuick)).toBe(true);
  }, 180_000);
});
