import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { DescribeExecutionOutput } from "@aws-sdk/client-sfn";
import { performAction } from "./actions/perform-action.ts";
import { addExecution } from "./actions/start.ts";
import { AwsError, expiredToken, throttled } from "./aws-error.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { ExecutionFacts, ExecutionView } from "./execution.ts";
import { type ActionCount, type Faults, noCount } from "./faults.ts";
import { type JsonInput, readRequest, sendError, sendOutput, type WireRequest } from "./json-wire.ts";
import { type MachineOptions, resolveMachine } from "./machine.ts";
import type { Ending } from "./play.ts";
import { createMeter, largeRegionQuotas, type Quotas } from "./quotas.ts";
import type { Script } from "./script.ts";
import { denied, type Lag, resolveExecution, type World } from "./world.ts";

const host = "127.0.0.1";
const account = "123456789012";

export interface FacadeOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default `eu-west-1`. */
  readonly region?: string;
  /** Default: those published for the large regions. `{}`: none. */
  readonly quotas?: Quotas;
}

/** One execution, as it really is: without lag, quotas and faults. */
export interface ExecutionTruth extends ExecutionView {
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly startedAt: number;
}

/** A request as it came. */
export interface RequestRecord extends WireRequest {
  /** By the façade's clock. */
  readonly at: number;
}

/**
 * An AWS Step Functions that plays what is documented of the real one, and goes wrong where a test wants it to. It runs
 * scripts in place of ASL, on a clock of the test's.
 */
export interface Facade {
  readonly endpoint: string;
  readonly region: string;
  readonly clock: Clock;
  /** How often each action was asked for, and what came of it. */
  readonly counts: Readonly<Record<string, ActionCount>>;
  /** All requests, in order. */
  readonly requests: readonly RequestRecord[];
  /** Registers a machine under a name or an ARN of this façade's region. Returns its ARN. */
  machine(nameOrArn: string, script: Script | ((facts: ExecutionFacts) => Script), options?: MachineOptions): string;
  /** Executions that somebody else has started: `<prefix>-0` and on. Returns their ARNs. */
  populate(machineArn: string, count: number, prefix?: string): readonly string[];
  /** All executions of a machine, oldest first. */
  executions(machineArn: string): readonly ExecutionTruth[];
  execution(executionArn: string): ExecutionTruth;
  /** Ends an execution now. */
  end(executionArn: string, ending: Ending): void;
  /** What Describe says in place of the truth, for states that no script comes to. */
  override(executionArn: string, instead: Partial<DescribeExecutionOutput>): void;
  /** `deleting`: no new starts. `gone`: with all its executions. */
  remove(machineArn: string, how: "deleting" | "gone"): void;
  /** Replaces the lag of all that is eventually consistent. None: `{}`. */
  setLag(lag: Partial<Lag>): void;
  /** Replaces the faults. None: `{}`. */
  setFaults(faults: Faults): void;
  /** Default 1,000,000. */
  limitOpenExecutions(count: number): void;
  /** Tokens left in an action's bucket. */
  tokensLeft(action: string): number;
  /** Cuts all connections. Idempotent. Rejects with what went wrong in the façade itself or in a script, if anything. */
  close(): Promise<void>;
}

export const startFacade = async (options: FacadeOptions = {}): Promise<Facade> => {
  const { clock = systemClock, region = "eu-west-1", quotas = largeRegionQuotas } = options;
  const meter = createMeter(quotas, clock);
  const counts: Record<string, ActionCount> = {};
  const requests: RequestRecord[] = [];
  /** Of the façade or of a test's script, never of a caller. */
  const mistakes: unknown[] = [];
  const world: World = {
    region,
    account,
    clock,
    machines: new Map(),
    tokens: new Map(),
    overrides: new Map(),
    lag: { describeMs: 0, listMs: 0, historyMs: 0 },
    openExecutions: 1_000_000,
  };
  let faults: Faults = {};
  let thaw: (() => void)[] = [];

  const count = (action: string, what: keyof ActionCount): void => {
    const before = counts[action] ?? noCount;
    counts[action] = { ...before, [what]: before[what] + 1 };
  };

  /** As far as a request comes before anything of it is carried out. */
  const admit = (action: string, input: JsonInput): void => {
    if (faults.credentialsExpired === true) throw expiredToken();
    if (faults.denies?.includes(action) === true) throw denied(world, action, input);
    if (faults.throttles?.(action) === true || !meter.take(action)) throw throttled();
    const status = faults.fails?.(action);
    if (status === 500) throw new AwsError("InternalFailure", "", status);
    if (status === 503) throw new AwsError("ServiceUnavailableException", "", status);
  };

  const untilThawed = async (): Promise<void> => {
    while (faults.isFrozen === true) await new Promise<void>((resolve) => thaw.push(resolve));
  };

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const hungUp = new AbortController();
    response.on("close", () => hungUp.abort());
    const request = await readRequest(message, region);
    const { action, input } = request;
    requests.push({ ...request, at: clock.now() });
    count(action, "asked");
    await untilThawed();
    if (faults.losesRequest?.(action, input) === true) {
      count(action, "lost");
      message.socket.destroy();
      return;
    }
    try {
      admit(action, input);
      const output = await performAction(world, action, input, { signal: hungUp.signal });
      count(action, "accepted");
      if (faults.losesAnswer?.(action, input) === true) {
        count(action, "lost");
        message.socket.destroy();
      } else sendOutput(response, output);
    } catch (error) {
      if (error instanceof AwsError) count(action, error.type === "ThrottlingException" ? "throttled" : "refused");
      throw error;
    }
  };

  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      if (error instanceof AwsError) return sendError(response, error);
      // Whoever hung up is not to be told.
      if (message.socket.destroyed) return;
      mistakes.push(error);
      message.socket.destroy();
    });
  });
  server.listen({ host, port: 0 });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the façade has no port");

  const machineOf = (arn: string) => resolveMachine(world.machines, region, arn);
  const setFaults = (next: Faults): void => {
    faults = next;
    const waiting = thaw;
    thaw = [];
    for (const resolve of waiting) resolve();
  };

  return {
    endpoint: `http://${host}:${address.port}`,
    region,
    clock,
    counts,
    requests,
    machine: (nameOrArn, script, given = {}) => {
      const name = nameOrArn.split(":").at(-1) ?? "";
      const arn = `arn:aws:states:${region}:${account}:stateMachine:${name}`;
      world.machines.set(name, {
        type: "STANDARD",
        tags: {},
        versions: [],
        aliases: {},
        definition: "{}",
        description: undefined,
        ...given,
        arn,
        name,
        roleArn: `arn:aws:iam::${account}:role/${name}`,
        createdAt: clock.now(),
        scriptOf: typeof script === "function" ? script : () => script,
        executions: [],
        byName: new Map(),
        status: "ACTIVE",
      });
      return arn;
    },
    populate: (arn, size, prefix = "foreign") => {
      const target = machineOf(arn);
      return Array.from({ length: size }, (_, index) => addExecution(world, target, `${prefix}-${index}`, "{}").arn);
    },
    executions: (arn) => machineOf(arn).machine.executions.map(toTruth),
    execution: (arn) => toTruth(resolveExecution(world, arn)),
    end: (arn, ending) => resolveExecution(world, arn).end(ending),
    override: (arn, instead) => {
      world.overrides.set(arn, instead);
    },
    remove: (arn, how) => {
      const { machine } = machineOf(arn);
      machine.status = "DELETING";
      if (how === "gone") world.machines.delete(machine.name);
    },
    setLag: (lag) => {
      world.lag = { describeMs: 0, listMs: 0, historyMs: 0, ...lag };
    },
    setFaults,
    limitOpenExecutions: (max) => {
      world.openExecutions = max;
    },
    tokensLeft: meter.left,
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

const toTruth = ({ arn, name, input, startedAt, now }: ReturnType<typeof resolveExecution>): ExecutionTruth => ({
  arn,
  name,
  input,
  startedAt,
  ...now(),
});
