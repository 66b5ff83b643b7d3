import { setMaxListeners } from "node:events";
import { BridgeError } from "../contract/bridge-error.ts";
import { type Clock, systemClock } from "../contract/clock.ts";
import { type AdapterId, asAdapterId } from "../contract/identity.ts";
import type { TaskStore } from "../contract/task-store.ts";
import type { WorkflowAdapter } from "../contract/workflow-adapter.ts";
import type { AuditSink } from "./context/audit.ts";
import { callAdapter } from "./context/call-adapter.ts";
import type { EngineContext } from "./context/engine-context.ts";
import { type Limits, resolveLimits } from "./context/limits.ts";
import { resolveTools } from "./context/resolve-tools.ts";
import { runTimes } from "./context/run-times.ts";
import { encryptedBox, plainBox } from "./context/secret-box.ts";
import type { TaskEngine } from "./context/task-engine.ts";
import { taskHub } from "./context/task-hub.ts";
import { type RandomBytes, systemRandomBytes } from "./context/task-id.ts";
import type { ToolDefinition } from "./context/tool-definition.ts";
import { toFaultEvent } from "./context/until-stored.ts";
import { jsonChecks } from "./context/validate-json.ts";
import { applyUpdates } from "./inspect/apply-updates.ts";
import { inspectScheduler } from "./inspect/inspect-scheduler.ts";
import { sweeper } from "./inspect/sweep.ts";
import { adapterWatcher } from "./inspect/watch-adapters.ts";
import { deleteTask } from "./outbox/retention.ts";
import { runClaimedEffect } from "./outbox/run-effect.ts";
import { serveDue } from "./outbox/serve-due.ts";
import { serviceLoop } from "./outbox/service-loop.ts";
import { answerTask } from "./questions/answer-task.ts";
import { claimQuestion, releaseQuestion } from "./questions/claim-question.ts";
import { followTask, waitForTask, watchStoreChanges } from "./read/follow-task.ts";
import { listTasks, readFresh, readOutput, toBareView, toView } from "./read/read-task.ts";
import { createTask, requireInput, requireTool } from "./start/create-task.ts";
import { withdrawals } from "./start/withdrawals.ts";
import { cancelTask } from "./state/cancel-task.ts";
import { findTask } from "./state/resolve-task.ts";

/** What an engine is made of. */
export interface TaskEngineOptions {
  readonly store: TaskStore;
  /** By the names that tools use for them. */
  readonly adapters: Readonly<Record<string, WorkflowAdapter>>;
  readonly tools: readonly ToolDefinition[];
  readonly limits?: Partial<Limits>;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: the system's secure source. */
  readonly randomBytes?: RandomBytes;
  /** Takes structured events; default: none are kept. */
  readonly audit?: AuditSink;
  /** 32 bytes; questions' secrets are stored encrypted with it. Default: stored as they are. */
  readonly encryptionKey?: Uint8Array;
}

/** Shared by all engines of this process: compiling takes a while, and the same schemas come again. */
const check = jsonChecks();

/** Puts an engine together. Throws `misconfigured` with `data.path` for tools that cannot work; touches no backend. */
export const createTaskEngine = (options: TaskEngineOptions): TaskEngine => {
  const closing = new AbortController();
  // Every call to a backend listens for it.
  setMaxListeners(0, closing.signal);
  const work = new Set<Promise<unknown>>();
  const audit = options.audit ?? (() => {});
  const random = options.randomBytes ?? systemRandomBytes;
  const adapters = new Map(
    Object.entries(options.adapters).map(([name, adapter]): [AdapterId, WorkflowAdapter] => [
      asAdapterId(name),
      adapter,
    ]),
  );
  for (const [name, adapter] of adapters) requireUsable(name, adapter, options.store);
  const background = (promise: Promise<unknown>): void => {
    const watched = promise
      .catch((error: unknown) => engine.audit(toFaultEvent(error)))
      .finally(() => work.delete(watched));
    work.add(watched);
  };
  const tools = resolveTools(options.tools, adapters, check);
  const engine: EngineContext = {
    store: options.store,
    clock: options.clock ?? systemClock,
    random,
    adapters,
    tools,
    limits: resolveLimits(options.limits),
    secrets: options.encryptionKey === undefined ? plainBox : encryptedBox(options.encryptionKey, random),
    hub: taskHub(),
    runTimes: runTimes(tools),
    check,
    closing: closing.signal,
    inspectSoon: (record) => background(scheduler.inspectNow(record)),
    inspectStatus: (record) => scheduler.inspectNow(record, "status"),
    serveSoon: (record) => background(serveDue(engine, record)),
    runSoon: (record, effect) => background(runClaimedEffect(engine, record, effect)),
    withdraw: (record) => pendingWithdrawals.add(record),
    audit: (event) => audit({ ...event, at: options.store.now() }),
    background,
  };
  const scheduler = inspectScheduler(engine);
  const watcher = adapterWatcher(engine);
  const pendingWithdrawals = withdrawals(engine);
  const services = [serviceLoop(engine), sweeper(engine, scheduler), watcher];
  let stopping: Promise<unknown> | undefined;
  const rest = (): Promise<unknown> => {
    stopping ??= Promise.all(services.map((service) => service.stop()));
    return stopping;
  };
  const stopWatching = watchStoreChanges(engine);

  return {
    tools: engine.tools,
    limits: engine.limits,
    open: async () => {
      for (const service of services) service.start();
    },
    unavailableAdapters: () =>
      [...adapters.keys()].filter((adapterId) => watcher.isCutOff(adapterId) || scheduler.isRefused(adapterId)),
    createTask: async (request) => {
      const { record, ...outcome } = await createTask(engine, request);
      return { ...(await toView(engine, scheduler, record, { owner: request.owner })), ...outcome };
    },
    prepareCall: async (name, input, answers) => {
      const tool = requireTool(engine, name);
      const checked = requireInput(engine, tool, input);
      return tool.prepare === undefined ? { input: checked } : tool.prepare(checked, answers);
    },
    readTask: async (id, access) => toView(engine, scheduler, await readFresh(engine, scheduler, id, access), access),
    waitForTask: async (id, access, wait) =>
      toView(engine, scheduler, await waitForTask(engine, scheduler, id, access, wait), access),
    followTask: (id, access, listener, gone = () => {}) => followTask(engine, scheduler, id, access, listener, gone),
    answerTask: (id, access, answers) => answerTask(engine, id, access, answers),
    claimQuestion: (id, access, key, claim) => claimQuestion(engine, id, access, key, claim),
    releaseQuestion: (id, access, key, by) => releaseQuestion(engine, id, access, key, by),
    cancelTask: async (id, access, cancel) =>
      toView(engine, scheduler, await cancelTask(engine, id, access, cancel), access),
    listTasks: async (access, filter, cursor, limit) => {
      const page = await listTasks(engine, access, filter, cursor, limit);
      const tasks = page.records.map((record) => toBareView(scheduler, record, access));
      return { tasks, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
    },
    deleteTask: (id, access) => deleteTask(engine, id, access),
    readOutput: (id, access, range) => readOutput(engine, id, access, range),
    receive: async (name, request) => {
      const adapterId = asAdapterId(name);
      const updates = await callAdapter(engine, {
        adapterId,
        operation: "receive",
        run: async (adapter, context) => {
          if (adapter.receive === undefined)
            throw new BridgeError("unsupported", "this adapter takes no webhook calls");
          return adapter.receive(request, context);
        },
      });
      await applyUpdates(engine, adapterId, updates);
    },
    explainTask: async (id) => {
      const record = await findTask(engine, id, { operator: true });
      const lastInspectedAt = scheduler.lastInspectedAt(record.taskId);
      const lastInspectError = scheduler.lastError(record.taskId);
      return {
        record,
        pollIntervalMs: scheduler.intervalOf(record),
        backendBackoffMs: scheduler.backoffMs(record.adapterId),
        ...(lastInspectedAt === undefined ? {} : { lastInspectedAt }),
        ...(lastInspectError === undefined ? {} : { lastInspectError }),
      };
    },
    rest: async () => {
      await rest();
    },
    close: async () => {
      stopWatching();
      scheduler.stop();
      pendingWithdrawals.stop();
      const drained = rest().then(async () => {
        while (work.size > 0) await Promise.all(work);
      });
      const cancelTimer = engine.clock.schedule(engine.limits.closeGraceMs, () => closing.abort());
      await drained;
      cancelTimer();
      closing.abort();
    },
  };
};

const requireUsable = (name: string, adapter: WorkflowAdapter, store: TaskStore): void => {
  const path = `adapters.${name}`;
  const fail = (text: string): never => {
    throw new BridgeError("misconfigured", `${path}: ${text}`, { adapterId: name, data: { path } });
  };
  if (adapter.contract !== 1)
    fail(`it is made for version ${String(adapter.contract)} of the adapter contract, this is 1`);
  if (adapter.inspect === undefined && adapter.watch === undefined && adapter.receive === undefined)
    fail("it can neither look at executions nor hear of them");
  if (adapter.traits.hostBound && store.shared)
    fail("its executions live on this host only, but other hosts share the store; use a store of this host's own");
};
