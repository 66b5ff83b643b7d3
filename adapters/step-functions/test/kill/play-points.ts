import { setTimeout as sleep } from "node:timers/promises";
import "../aws-environment.ts";
import { stepFunctions } from "@taskbridge/adapter-step-functions";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";
import type { ExecutionTruth } from "../facade/facade.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import { type Attended, attendOnce, hasEnded, type Order, readOrder } from "./orders.ts";
import { type Point, stepBefore } from "./point.ts";
import { openScene, type Scene } from "./scene.ts";
import { type ServerSettings, toSettings } from "./settings.ts";

/** How a client hears of an end: by the answer to its call, or by asking for the task. */
export interface End {
  readonly status: SeenTask["status"];
  readonly text: string | undefined;
}

export interface PointOutcome {
  readonly record: TaskRecord;
  readonly executions: readonly ExecutionTruth[];
  /** Requests that AWS has carried out. */
  readonly accepted: { readonly answers: number; readonly stops: number };
  readonly asked: ReadonlyMap<string, ReadonlySet<string>>;
  /** As the other server tells it. */
  readonly end: End;
  /** Only of one that was stopped. */
  readonly woken?: Woken;
}

export interface Woken {
  /** Whether the client that had made the call heard an end before the server was woken: then it was not stopped. */
  readonly wasAwake: boolean;
  /** What that client heard at last. */
  readonly end: End;
  /** The record when it was woken, and when it had carried another order out after that. */
  readonly before: TaskRecord;
  readonly after: TaskRecord;
}

export interface Cut {
  readonly signal: "SIGKILL" | "SIGSTOP";
  /** After which every server gives a call up (milliseconds). Nothing may be given up before the signal. */
  readonly callTimeoutMs: number;
  /** At least so long a stopped one does not go on (milliseconds). */
  readonly frozenMs?: number;
}

const n = 7;
const serverScript = new URL("./server-under-test.mjs", import.meta.url);

const toEnd = ({ status, result }: SeenTask): End => ({ status, text: result?.content[0]?.text });

/** Attends to a task as its client does, until it is as the test wants it. */
const attend = async (
  client: TaskClient,
  attended: Attended,
  isEnough: (task: SeenTask) => boolean = hasEnded,
): Promise<SeenTask> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(100)) {
    const task = await attendOnce(client, attended);
    if (isEnough(task)) return task;
  }
  throw new Error(`${attended.taskId} does not come to its end`);
};

/** One task, from its call to the signal, by the server that the signal is for. */
interface Act {
  readonly point: Point;
  readonly scene: Scene;
  readonly client: TaskClient;
  readonly asked: Attended["asked"];
  /** What comes before the client's last step. */
  prepare(): Promise<void>;
  /** The last step, and all that its client does and hears afterwards. */
  finish(signalled: Promise<void>): Promise<End>;
}

const orderOf = ({ kind }: Point): Order => ({ n, kind, ms: 300 });

const actOf = (point: Point, scene: Scene, url: string): Act => {
  const client = taskClient(url);
  const order = orderOf(point);
  const asked: Attended["asked"] = new Map();
  const step = stepBefore(point);
  let taskId = "";
  return {
    point,
    scene,
    client,
    asked,
    prepare: async () => {
      if (step === "call" || step === "inspect") return;
      taskId = (await client.start("work", { ...order })).taskId;
      const isReady = ({ status }: SeenTask): boolean => point.kind !== "asks" || status === "input_required";
      // Neither answered nor cancelled yet.
      await attend(client, { taskId, order: { ...order, kind: "works" }, asked, leaves: "First" }, isReady);
    },
    finish: async (signalled) => {
      scene.arm();
      if (step === "inspect") {
        // Its first: what a later one tells anew is nothing, and not written down anyway.
        taskId = (await client.start("work", { ...order })).taskId;
        await attend(client, { taskId, order, asked, leaves: "First" }, scene.isMet);
        await signalled;
      }
      if (step !== "call") return toEnd(await attend(client, { taskId, order, asked }));
      const { result = {}, error } = await client.request("tools/call", { name: "work", arguments: { ...order } });
      if (error !== undefined) throw new Error(JSON.stringify(error));
      // One that has ended by then is answered as any tool is.
      if (typeof result.taskId !== "string")
        return toEnd({ taskId: "", status: "completed", result: result as NonNullable<SeenTask["result"]> });
      return toEnd(await attend(client, { taskId: result.taskId, order, asked }));
    },
  };
};

/** Another server on the same store, in this process, and what it has done by the time that the stopped one is woken. */
interface Second {
  readonly client: TaskClient;
  readonly store: TaskStore;
  readonly attended: Attended;
  readonly record: TaskRecord;
  close(): Promise<void>;
}

const goOn = async (
  { scene: { facade, machine, folder }, point, asked }: Act,
  settings: ServerSettings,
): Promise<Second> => {
  const store = await sqliteStore({ path: `${folder}/tasks.db` });
  const adapters = { aws: stepFunctions({ region: facade.region, endpoint: facade.endpoint }) };
  const server = await createTaskServer({ ...settings, store, adapters });
  const close = async (): Promise<void> => {
    await server.close();
    await store.close();
  };
  try {
    const { url } = await server.listen({ port: 0 });
    const client = taskClient(url);
    const page = await store.list({ operator: true }, { includeExpired: true }, undefined, 10);
    const { taskId } = page.records[0] as TaskRecord;
    const attended: Attended = { taskId, order: orderOf(point), asked };
    if (point.kind === "until-reported")
      for (const { arn } of facade.executions(machine)) facade.end(arn, { status: "SUCCEEDED", output: "{}" });
    if (point.wakesAtSecond === true)
      await attend(client, { ...attended, leaves: "Second" }, () => asked.has("Second"));
    else await attend(client, attended);
    return { client, store, attended, record: (await store.read(taskId)) as TaskRecord, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** What has come of it, once the stopped one has gone on too. */
const conclude = async (
  { scene: { facade, machine }, client }: Act,
  { client: other, store, attended, record: before }: Second,
  woken?: Pick<Woken, "wasAwake"> & { readonly end: Promise<End> },
): Promise<PointOutcome> => {
  const { asked } = attended;
  let end: End | undefined;
  if (woken !== undefined) {
    end = await woken.end;
    // When it has carried another order out, it is done with what it was in the midst of.
    const later: Order = { n: n + 1, kind: "works", ms: 100 };
    const started = await client.start("work", { ...later });
    await attend(client, { taskId: started.taskId, order: later, asked: new Map() });
  }
  const task = await attend(other, attended);
  const record = (await store.read(before.taskId)) as TaskRecord;
  return {
    record,
    executions: facade.executions(machine).filter(({ input }) => readOrder(input).n === n),
    accepted: {
      answers: facade.counts.SendTaskSuccess?.accepted ?? 0,
      stops: facade.counts.StopExecution?.accepted ?? 0,
    },
    asked,
    end: toEnd(task),
    ...(woken === undefined || end === undefined
      ? {}
      : { woken: { wasAwake: woken.wasAwake, end, before, after: record } }),
  };
};

const serveScenes = async (
  points: readonly Point[],
  scenes: readonly Scene[],
  settings: ServerSettings,
): Promise<ServerProcess> => {
  const process = await startServer(serverScript, {
    SETTINGS: JSON.stringify(settings),
    HOLDS: "1",
    SCENES: JSON.stringify(
      points.map(({ at, mutant }, index) => ({
        folder: scenes[index]?.folder,
        endpoint: scenes[index]?.endpoint,
        mutant,
        ...("server" in at ? { fault: `${at.server}:1` } : {}),
      })),
    ),
  });
  if (process === undefined) throw new Error("the servers did not start");
  return process;
};

/** Brings all to their points at about the same time. Gives what their clients hear at last, if they ever do. */
const meetPoints = async (acts: readonly Act[], signalled: Promise<void>): Promise<ReadonlyMap<Act, Promise<End>>> => {
  await Promise.all(acts.map((act) => act.prepare()));
  const ends = new Map<Act, Promise<End>>();
  // A look comes in its own time; what the others wait for comes at once, so that nothing is given up before the signal.
  const isInspect = ({ point }: Act): boolean => stepBefore(point) === "inspect";
  for (const turn of [acts.filter(isInspect), acts.filter((act) => !isInspect(act))]) {
    for (const act of turn) {
      const end = act.finish(signalled);
      end.catch(() => {});
      ends.set(act, end);
    }
    const unmet = (): readonly string[] => turn.filter(({ scene }) => !scene.isMet()).map(({ point }) => point.what);
    await until("all points are met", async () => unmet().length === 0 || undefined, 120_000).catch((error: Error) => {
      throw new Error(`${error.message}; not ${unmet().join(", not ")}`);
    });
  }
  return ends;
};

/**
 * Brings the servers of one process to their points, cuts that process' life by the signal, and lets others bring the tasks to their
 * ends. Rejections are of single points, in their order.
 */
export const playPoints = async (
  points: readonly Point[],
  { signal, callTimeoutMs, frozenMs = 0 }: Cut,
): Promise<readonly PromiseSettledResult<PointOutcome>[]> => {
  const settings = toSettings(callTimeoutMs);
  const scenes = await Promise.all(points.map(openScene));
  let process: ServerProcess | undefined;
  let seconds: readonly PromiseSettledResult<Second>[] = [];
  try {
    process = await serveScenes(points, scenes, settings);
    const urls = JSON.parse(process.url) as readonly string[];
    const acts = points.map((point, index) => actOf(point, scenes[index] as Scene, urls[index] ?? ""));
    let report = (): void => {};
    const signalled = new Promise<void>((resolve) => {
      report = resolve;
    });
    const ends = await meetPoints(acts, signalled);
    process.signal(signal);
    report();
    const signalledAt = Date.now();
    const isStop = signal === "SIGSTOP";
    // What AWS has told the stopped one waits in its sockets.
    if (isStop) for (const { release } of scenes) release();
    else await process.gone;
    const received = new Set<Act>();
    for (const [act, end] of ends) end.then(() => received.add(act)).catch(() => {});
    seconds = await Promise.allSettled(acts.map((act) => goOn(act, settings)));
    if (isStop) await sleep(signalledAt + frozenMs - Date.now());
    const early = new Set(received);
    process.signal("SIGCONT");
    return await Promise.allSettled(
      acts.map(async (act, index) => {
        const second = seconds[index] as PromiseSettledResult<Second>;
        if (second.status === "rejected") throw second.reason;
        const end = ends.get(act) as Promise<End>;
        return conclude(act, second.value, isStop ? { wasAwake: early.has(act), end } : undefined);
      }),
    );
  } finally {
    process?.signal("SIGKILL");
    await process?.gone;
    await Promise.all(seconds.map((second) => (second.status === "fulfilled" ? second.value.close() : undefined)));
    await Promise.all(scenes.map(({ close }) => close()));
  }
};
