import { type ChildProcess, fork } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RedisBench, redisBench, until } from "../redis-bench.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";

export interface LoadOptions {
  /** Jobs that run at once. */
  readonly jobs: number;
  readonly push: "on" | "off";
  /** How the server reaches Redis. Default: directly. */
  readonly url?: (bench: RedisBench) => Promise<string>;
}

/** A server with so many running jobs, all followed by clients. */
export interface LoadBench {
  readonly bench: RedisBench;
  readonly client: TaskClient;
  /** The frames of each task, by its job's number. */
  readonly seen: ReadonlyMap<number, readonly { readonly task: SeenTask; readonly at: number }[]>;
  /** Lets the jobs end, the n-th `n * everyMs` after `at`. */
  release(at: number, everyMs: number): void;
  /** Resolves when every stream has ended, which is when all of its tasks have. */
  readonly streamsEnded: Promise<void>;
  /** Milliseconds for which the server has waited for a processor so far, as Linux counts; elsewhere NaN. */
  starvedMs(): Promise<number>;
  /** How late the timers of an idle process were since the last asking (milliseconds). */
  idle(): Promise<readonly number[]>;
  close(): Promise<void>;
}

const tasksPerStream = 100;
const callsAtOnce = 64;

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const forkHere = (file: string, args: readonly string[] = []): ChildProcess =>
  fork(here(file), args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });

/** The tasks of calls 0, 1, 2 …, in that order. */
const startAll = async (client: TaskClient, jobs: number): Promise<readonly string[]> => {
  const taskIds: string[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let n = next++; n < jobs; n = next++) taskIds[n] = (await client.start("work", { n })).taskId;
  };
  await Promise.all(Array.from({ length: callsAtOnce }, caller));
  return taskIds;
};

/** When a job's processor returned, as its result says. */
export const finishedAt = ({ result }: SeenTask): number =>
  (JSON.parse(result?.content[0]?.text ?? "{}") as { finishedAt: number }).finishedAt;

/** The second number of `/proc/PID/schedstat` is nanoseconds in the run queue. */
const starvedMs = async (pid: number): Promise<number> => {
  const text = await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => "");
  return Number(text.split(" ")[1] ?? Number.NaN) / 1e6;
};

export const loadBench = async ({ jobs, push, url }: LoadOptions): Promise<LoadBench> => {
  const bench = await redisBench({});
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-load-"));
  const processes: ChildProcess[] = [];
  const stop = new AbortController();
  // One for each stream.
  setMaxListeners(0, stop.signal);
  let server: ServerProcess | undefined;
  const close = async (): Promise<void> => {
    stop.abort();
    server?.signal("SIGKILL");
    await server?.gone;
    for (const child of processes) child.kill("SIGKILL");
    await bench.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const queueUrl = await (url?.(bench) ?? bench.url);
    const { prefix, queueName } = bench;
    const env = { FOLDER: folder, QUEUE_URL: queueUrl, PREFIX: prefix, QUEUE: queueName, PUSH: push };
    server = await startServer(new URL("./load-server.mjs", import.meta.url), env);
    if (server === undefined) throw new Error("the server did not start");
    const { pid } = server;
    const client = taskClient(server.url);
    const worker = forkHere("./paced-worker.mjs", [bench.url, prefix, queueName, String(jobs)]);
    const idler = forkHere("./idle-process.mjs");
    processes.push(worker, idler);
    await once(worker, "message");
    const taskIds = await startAll(client, jobs);
    const allRun = async (): Promise<true | undefined> => (await bench.queue.getActiveCount()) === jobs || undefined;
    await until("all jobs run", allRun, 60_000);
    const seen = new Map<number, { task: SeenTask; at: number }[]>(taskIds.map((_, n) => [n, []]));
    const numbers = new Map(taskIds.map((taskId, n) => [taskId, n]));
    const streams = Array.from({ length: Math.ceil(jobs / tasksPerStream) }, (_, index) =>
      client.listen(
        taskIds.slice(index * tasksPerStream, (index + 1) * tasksPerStream),
        (task, at) => seen.get(numbers.get(task.taskId) ?? -1)?.push({ task, at }),
        stop.signal,
      ),
    );
    const streamsEnded = Promise.all(streams).then(() => {});
    const allSeen = async (): Promise<true | undefined> =>
      [...seen.values()].every((frames) => frames.length > 0) || undefined;
    await until("each task is followed", allSeen, 60_000);
    return {
      bench,
      client,
      seen,
      streamsEnded,
      release: (at, everyMs) => worker.send({ at, everyMs }),
      starvedMs: () => starvedMs(pid),
      idle: async () => {
        idler.send("tell");
        const [late] = await once(idler, "message");
        return late as number[];
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
