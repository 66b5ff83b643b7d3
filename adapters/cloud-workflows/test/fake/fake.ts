import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { answerCall } from "./answer-call.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Execution, ExecutionFacts, ExecutionView } from "./execution.ts";
import type { Faults } from "./faults.ts";
import { createJournal, type Journal } from "./journal.ts";
import { addExecution, type CreateInput } from "./methods/create-execution.ts";
import { toExecutionName } from "./methods/to-execution.ts";
import type { Ending } from "./play.ts";
import { createMeter, googleQuotas, type Quotas } from "./quotas.ts";
import type { MethodName } from "./routes.ts";
import type { Script } from "./script.ts";
import type { WorkflowOptions } from "./workflow.ts";
import { type Lag, resolveExecution, resolveWorkflow, type World } from "./world.ts";

const host = "127.0.0.1";

export interface FakeOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** ID of the project. Default `demo`. */
  readonly project?: string;
  /** Default `europe-west1`. */
  readonly location?: string;
  /** Default: the published ones. `{}`: none. */
  readonly quotas?: Quotas;
  /** The only tokens that are taken. Default: any, and none, except at callbacks. */
  readonly tokens?: readonly string[];
  /** How a callback's name is written. Default `callback`, as the reference has it; its URL always has `callbacks`. */
  readonly callbackSegment?: "callback" | "callbacks";
  /** Whether names in answers have the project's number, as those of Google, or its ID. Default `number`. */
  readonly namesBy?: "number" | "id";
}

/** One execution, as it really is: without lag, quotas and faults. */
export interface ExecutionTruth extends ExecutionFacts, ExecutionView {
  /** As answers have it. */
  readonly name: string;
}

/**
 * The REST side of Google's Workflow Executions API v1, and of the Workflows API v1 as far as it is read. It plays what is
 * documented, and goes wrong where a test wants it to. It runs scripts in place of YAML, on a clock of the test's.
 */
export interface Fake {
  readonly port: number;
  readonly endpoint: string;
  readonly project: string;
  readonly projectNumber: string;
  readonly location: string;
  readonly clock: Clock;
  /** What was asked and what came of it. */
  readonly journal: Journal;
  /** Deploys a workflow, or deploys it anew. Returns its full name, with the project's ID. */
  workflow(id: string, script: Script | ((facts: ExecutionFacts) => Script), options?: WorkflowOptions): string;
  /** Executions that somebody else has created. Returns their names. */
  populate(workflowName: string, count: number, input?: CreateInput): readonly string[];
  /** All executions of a workflow, oldest first. */
  executions(workflowName: string): readonly ExecutionTruth[];
  /** By any form of its name. */
  execution(name: string): ExecutionTruth;
  /** URL of a callback, by the name that the script gives it. */
  callbackUrl(executionName: string, callback: string): string;
  /** Ends an execution now. */
  end(executionName: string, ending: Ending): void;
  /** What get and list say in place of the truth (`{ state: "UNAVAILABLE", stateError: … }`). undefined: the truth. */
  override(executionName: string, instead: Readonly<Record<string, unknown>> | undefined): void;
  /** "Also cancels and deletes all running executions of the workflow" (discovery document of workflows v1). */
  remove(workflowName: string): void;
  /** Replaces the lag. None: `{}`. */
  setLag(lag: Partial<Lag>): void;
  /** Replaces the faults. None: `{}`. */
  setFaults(faults: Faults): void;
  /** Default 10,000 at once and 100,000 queued. */
  limitExecutions(maxActive: number, maxQueued?: number): void;
  /** Tokens left in a method's bucket. */
  tokensLeft(method: MethodName): number;
  /** Cuts all connections. Idempotent. Rejects with what went wrong in the fake itself or in a script, if anything. */
  close(): Promise<void>;
}

export const startFake = async (options: FakeOptions = {}): Promise<Fake> => {
  const { clock = systemClock, project = "demo", location = "europe-west1", quotas = googleQuotas } = options;
  const projectNumber = "123456789012";
  const meter = createMeter(quotas, clock);
  const journal = createJournal();
  /** Of the fake or of a test's script, never of a caller. */
  const mistakes: unknown[] = [];
  const world = createWorld(options, clock, project, projectNumber, location);
  let faults: Faults = {};
  let thaw: (() => void)[] = [];
  const untilThawed = async (): Promise<void> => {
    while (faults.isFrozen === true) await new Promise<void>((resolve) => thaw.push(resolve));
  };

  const onRequest = (message: IncomingMessage, response: ServerResponse): void => {
    const state = { world, meter, journal, tokens: options.tokens, faults: () => faults, untilThawed };
    answerCall(state, message, response).catch((error: unknown) => {
      // Whoever hung up is not to be told.
      if (message.socket.destroyed) return;
      mistakes.push(error);
      message.socket.destroy();
    });
  };
  const server = createServer(onRequest);
  // A client may send its next request on a connection that is idle for minutes of a test.
  server.keepAliveTimeout = 0;
  server.listen({ host, port: 0 });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the fake has no port");
  const endpoint = `http://${host}:${address.port}`;

  const setFaults = (next: Faults): void => {
    faults = next;
    const waiting = thaw;
    thaw = [];
    for (const resolve of waiting) resolve();
  };
  const toTruth = (one: Execution): ExecutionTruth => ({
    name: toExecutionName(world, one),
    id: one.id,
    argument: one.argument,
    labels: one.labels,
    createdAt: one.createdAt,
    ...one.now(),
  });

  return {
    port: address.port,
    endpoint,
    project,
    projectNumber,
    location,
    clock,
    journal,
    workflow: (id, script, given = {}) => addWorkflow(world, id, script, { project, location, ...given }),
    populate: (name, size, input = {}) => {
      const workflow = resolveWorkflow(world, name);
      return Array.from({ length: size }, () => toExecutionName(world, addExecution(world, workflow, input)));
    },
    executions: (name) => resolveWorkflow(world, name).executions.map(toTruth),
    execution: (name) => toTruth(resolveExecution(world, name)),
    callbackUrl: (name, callback) => {
      const execution = resolveExecution(world, name);
      const found = execution.performance()?.callbacks.get(callback);
      if (found === undefined) throw new Error(`there is no callback ${callback}`);
      return `${endpoint}/v1/${toExecutionName(world, execution)}/callbacks/${found.id}`;
    },
    end: (name, ending) => resolveExecution(world, name).end(ending),
    override: (name, instead) => {
      const { id } = resolveExecution(world, name);
      if (instead === undefined) world.overrides.delete(id);
      else world.overrides.set(id, instead);
    },
    remove: (name) => {
      const workflow = resolveWorkflow(world, name);
      for (const one of workflow.executions) one.end({ state: "CANCELLED" });
      world.workflows.delete(workflow.name);
    },
    setLag: (lag) => {
      world.lag = { getMs: 0, listMs: 0, ...lag };
    },
    setFaults,
    limitExecutions: (maxActive, maxQueued = 100_000) => {
      world.maxActive = maxActive;
      world.maxQueued = maxQueued;
    },
    tokensLeft: (method) => meter.left(method, `${project}/${location}`),
    close: async () => {
      setFaults({});
      if (server.listening) {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
      }
      const [mistake] = mistakes.splice(0);
      if (mistake !== undefined) throw mistake;
    },
  };
};

const createWorld = (
  { callbackSegment = "callback", namesBy = "number" }: FakeOptions,
  clock: Clock,
  project: string,
  projectNumber: string,
  location: string,
): World => ({
  clock,
  projects: new Map([[project, projectNumber]]),
  locations: new Set([location]),
  workflows: new Map(),
  active: new Map(),
  queued: new Map(),
  quietUntil: new Map(),
  overrides: new Map(),
  callbackSegment,
  namesBy,
  lag: { getMs: 0, listMs: 0 },
  maxActive: 10_000,
  maxQueued: 100_000,
  sequence: 0,
});

const addWorkflow = (
  world: World,
  id: string,
  script: Script | ((facts: ExecutionFacts) => Script),
  given: WorkflowOptions & { readonly project: string; readonly location: string },
): string => {
  const name = `projects/${given.project}/locations/${given.location}/workflows/${id}`;
  if (!world.projects.has(given.project))
    world.projects.set(given.project, String(210_987_654_321 + world.projects.size));
  world.locations.add(given.location);
  const before = world.workflows.get(name);
  const revision = Number(before?.revisionId.slice(0, 6) ?? 0) + 1;
  world.workflows.set(name, {
    ...given,
    id,
    name,
    createdAt: before?.createdAt ?? world.clock.now(),
    // "The first six characters are zero-padded decimal", then three of hex (discovery document of workflows v1).
    revisionId: `${String(revision).padStart(6, "0")}-a4d`,
    scriptOf: typeof script === "function" ? script : () => script,
    executions: before?.executions ?? [],
    byId: before?.byId ?? new Map(),
    byLabel: before?.byLabel ?? new Map(),
  });
  return name;
};
