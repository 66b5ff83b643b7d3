import type { AnswerRequest, WorkflowAdapter } from "../../../src/adapter.ts";
import {
  createTaskEngine,
  isBridgeError,
  type TaskEngine,
  type TaskEngineOptions,
  type TaskRecord,
} from "../../../src/index.ts";
import { asOwnerId } from "../../../src/store.ts";
import type { FakeExecution } from "../../../src/testing.ts";
import { type Backend, callTimeoutMs, createTestBackend } from "./backend.ts";
import type { Scenario } from "./commands.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { createWorld, type Process, type World } from "./world.ts";

/** What a test may replace, to show that the replacement is found out. */
export interface Parts {
  readonly createEngine?: (options: TaskEngineOptions) => TaskEngine;
  readonly spoilStore?: Parameters<typeof createLedger>[0]["spoil"];
  readonly spoilAdapter?: (adapter: WorkflowAdapter) => WorkflowAdapter;
}

const limits = {
  maxConcurrentTasksPerOwner: 3,
  maxReasks: 1,
  lostAfterMs: 60_000,
  sweepIntervalMs: 20_000,
  readWaitMs: 1_000,
  callTimeoutMs,
  closeGraceMs: 2_000,
};
const policy = { retentionMs: 40_000, startDeadlineMs: 60_000, pollIntervalMs: 1_000 };
const toolSettings = {
  plain: {},
  restart: { onUnknownStart: "restart" },
  fold: { dedupeWindowMs: 30_000 },
  short: { maxRunMs: 30_000, questionTimeoutMs: 10_000, maxConcurrent: 2 },
} as const;

interface Server {
  readonly process: Process;
  readonly engine: TaskEngine;
  readonly adapter: WorkflowAdapter;
}

interface HeldTask {
  /** As its owner says it. */
  readonly id: string;
  /** What its record is called. */
  readonly taskId: string;
  readonly owner: string;
  isDeleted: boolean;
  /** A delete was answered. */
  isGone: boolean;
}

interface Intent {
  readonly action: AnswerRequest["action"];
  readonly content?: unknown;
}

interface Follower {
  readonly process: Process;
  readonly taskId: string;
  revision: number;
  state: "listening" | "over" | "gone";
}

/** One run: the world, what is in it, and what was found wrong. */
export interface Model {
  readonly world: World;
  readonly backend: Backend;
  readonly ledger: Ledger;
  /** Tasks whose IDs clients know. */
  readonly held: HeldTask[];
  readonly servers: Server[];
  readonly followers: Follower[];
  /** Answers that people gave, by task and question. */
  readonly intents: Map<string, Intent[]>;
  /** Claims that were given back, by task, key and holder. */
  readonly released: Set<string>;
  /** Answers that an engine has acknowledged. */
  readonly acceptedAnswers: { readonly taskId: string; readonly questionId: string }[];
  readonly accusations: string[];
  accuse(text: string): void;
  spawn(): void;
  kill(server: Server): void;
  /** Watches over the outcome of a verb: nothing but its documented errors may come. */
  expectOutcome<T>(what: string, work: Promise<T>, take: (result: T) => void): void;
  nextAnswer(): number;
}

export const createModel = (scenario: Pick<Scenario, "setup" | "schedule">, parts: Parts = {}): Model => {
  const accusations: string[] = [];
  const accuse = (text: string): void => void accusations.push(text);
  const world = createWorld(scenario.schedule);
  const backend = createTestBackend(scenario.setup, world);
  const held: HeldTask[] = [];
  const servers: Server[] = [];
  const intents = new Map<string, Intent[]>();
  const acceptedAnswers: { readonly taskId: string; readonly questionId: string }[] = [];
  const released = new Set<string>();
  const followers: Follower[] = [];
  let spawned = 0;
  let answersGiven = 0;

  const isRunning = ({ startKey, ref }: TaskRecord): boolean =>
    // Of two, which only a restart may start, nobody can say which one is meant.
    backend.fake.starts(startKey) === 1 &&
    backend.fake.executions.some(
      (execution) =>
        (ref === undefined ? execution.key === startKey : isRefOf(execution, ref)) &&
        !hasStopped(execution) &&
        !backend.hasVanished(execution) &&
        !backend.isStray(execution),
    );
  const isFindable = ({ startKey }: TaskRecord): boolean =>
    servers.every(({ adapter }) => adapter.find !== undefined) &&
    !backend.struck.has("find") &&
    backend.fake.executions.some(
      (execution) => execution.key === startKey && !backend.hasVanished(execution) && !backend.isStray(execution),
    );
  const ledger = createLedger({
    world,
    accuse,
    isRunning,
    isFindable,
    isHandedOut: (taskId) => held.some((task) => task.taskId === taskId),
    isReleased: (taskId, key, by) => released.has(`${taskId} ${key} ${by}`),
    isDeleted: (taskId) => held.some((task) => task.taskId === taskId && task.isDeleted),
    ...(parts.spoilStore === undefined ? {} : { spoil: parts.spoilStore }),
  });

  /** Notes what reaches the backend, whose answers are checked against what people said. */
  const overhear = (adapter: WorkflowAdapter): WorkflowAdapter => {
    const { answer } = adapter;
    if (answer === undefined) return adapter;
    return {
      ...adapter,
      answer: (ref, request, context) => {
        const record = ledger.byKey(backend.fake.executions.find((known) => isRefOf(known, ref))?.key ?? "")?.at(-1);
        if (record === undefined) accuse("an answer goes to an execution of no task");
        else assertMeant(record, request);
        return answer(ref, request, context);
      },
    };
  };
  const assertMeant = (record: TaskRecord, request: AnswerRequest): void => {
    const said = intents.get(`${record.taskId} ${request.question.id}`) ?? [];
    const isMeant = said.some(
      ({ action, content }) =>
        action === request.action &&
        (action !== "accept" || JSON.stringify(content) === JSON.stringify(request.content)),
    );
    const isTimeout = request.action === "cancel" && record.policy.questionTimeoutMs !== null;
    const mayTimeOut = request.action === "cancel" && request.question.id.startsWith("deadline");
    if (!isMeant && !isTimeout && !mayTimeOut)
      accuse(`nobody gave the answer ${JSON.stringify(request)}, but ${JSON.stringify(said)}`);
  };

  const spawn = (): void => {
    const process: Process = { name: `p${++spawned}`, state: "running" };
    const connected = overhear(backend.connect(process));
    const adapter = parts.spoilAdapter?.(connected) ?? connected;
    const engine = (parts.createEngine ?? createTaskEngine)({
      store: ledger.storeOf(process),
      adapters: { a: adapter },
      tools: Object.entries(toolSettings).map(([name, task]) => ({
        name,
        adapter: "a",
        target: { run: name },
        task: { ...policy, ...task },
      })),
      limits,
      clock: world.clockOf(process),
      randomBytes: bytesFrom(spawned),
      audit: (event) => {
        const text = JSON.stringify(event);
        if (text.includes("fake-secret")) accuse(`a secret in the audit: ${text}`);
        if (event.kind === "internal_error" && process.state !== "dead") accuse(`internal error: ${event.message}`);
      },
    });
    const server = { process, engine, adapter };
    servers.push(server);
    void engine.open();
  };

  const kill = (server: Server): void => {
    world.kill(server.process);
    servers.splice(servers.indexOf(server), 1);
    void server.adapter.close?.();
  };

  const expectOutcome = <T>(what: string, work: Promise<T>, take: (result: T) => void): void => {
    work.then(take, (error: unknown) => {
      if (!isBridgeError(error) || error.code === "internal")
        accuse(`${what} rejected with ${error instanceof Error ? error.stack : String(error)}`);
    });
  };
  return {
    world,
    backend,
    ledger,
    held,
    servers,
    followers,
    intents,
    released,
    acceptedAnswers,
    accusations,
    accuse,
    spawn,
    kill,
    expectOutcome,
    nextAnswer: () => ++answersGiven,
  };
};

export const hasStopped = ({ snapshot }: FakeExecution): boolean =>
  snapshot.status === "succeeded" || snapshot.status === "failed" || snapshot.status === "cancelled";

export const isRefOf = (execution: FakeExecution, ref: string): boolean => ref.includes(`"${execution.id}"`);

/** Different bytes for every server of a run, and the same in every run. */
const bytesFrom = (seed: number): ((count: number) => Uint8Array) => {
  let state = seed * 0x9e3779b1;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
};

export const accessOf = (owner: string): { readonly owner: ReturnType<typeof asOwnerId> } => ({
  owner: asOwnerId(owner),
});
