/** A step that an execution is at, as Google names it. */
export interface Step {
  readonly routine: string;
  readonly step: string;
}

/** A frame of a stack trace. */
export interface Frame extends Step {
  readonly line?: number;
}

/** An execution as Google tells it. Times are epoch milliseconds. The BASIC view has its name, state and times only. */
export interface Execution {
  /** Its resource name; Google may put the project's number where it was given the project's ID. */
  readonly name: string;
  /** One of Google's states; `STATE_UNSPECIFIED`, or a text or number that is not known here, for one that was added since. */
  readonly state: string;
  /** Absent while it waits in the backlog. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** What it was started with: JSON. */
  readonly argument?: string;
  /** JSON. */
  readonly result?: string;
  /** `payload`: JSON. `context`: the stack as a text. `stack`: where it happened comes first. */
  readonly error?: { readonly payload: string; readonly context: string; readonly stack: readonly Frame[] };
  readonly steps: readonly Step[];
  readonly labels: Readonly<Record<string, string>>;
  readonly stateError?: string;
}

/** A callback endpoint that an execution has created. */
export interface Callback {
  readonly id: string;
  readonly method: string;
  /** How many steps wait for it. */
  readonly waiters: number;
  /** What was sent to it and not been read. */
  readonly payloads: readonly string[];
}

/** What the history tells of a step that goes on. */
export interface StepEntry extends Step {
  /** Of this one run of the step, within its execution. */
  readonly id: string;
  readonly type: string;
  /** Of a loop: the iteration at hand, from 1, and how many there are, where a detailed history is kept. */
  readonly iteration?: number;
  readonly iterations?: number;
  /** Variables in its scope, where a detailed history is kept. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Workflow {
  readonly name: string;
  /** `ACTIVE`, or `UNAVAILABLE` for one that cannot be run at present. */
  readonly state: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  /** YAML or JSON; empty where it is not told, as in lists. */
  readonly source: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next?: string;
}

export interface PageCall {
  readonly size: number;
  readonly token?: string;
}

export interface ListCall extends PageCall {
  /** FULL gives a tenth of what BASIC gives in a page. */
  readonly view: "BASIC" | "FULL";
  readonly filter?: string;
}

/** The method and body of one delivery to a callback endpoint. */
export interface Delivery {
  readonly method: string;
  /** JSON; absent for methods that have no body. */
  readonly body?: string;
}

/** The calls of Workflows that we make. Each rejects with a `BridgeError`, and promptly once the signal fires. Names are resource names. */
export interface GcwClient {
  create(
    workflow: string,
    call: { readonly argument: string; readonly labels: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<Execution>;
  /** In FULL view. */
  get(name: string, signal: AbortSignal): Promise<Execution>;
  /** The newest first. */
  list(workflow: string, call: ListCall, signal: AbortSignal): Promise<Page<Execution>>;
  cancel(name: string, signal: AbortSignal): Promise<void>;
  /** All callbacks that an execution has at present; `unavailable` for more than can be read. */
  callbacks(name: string, signal: AbortSignal): Promise<readonly Callback[]>;
  /** All steps that go on; undefined where there are more than are read. */
  stepsInProgress(name: string, signal: AbortSignal): Promise<readonly StepEntry[] | undefined>;
  /** Sends to a callback of an execution. */
  deliver(name: string, callbackId: string, delivery: Delivery, signal: AbortSignal): Promise<void>;
  workflow(name: string, signal: AbortSignal): Promise<Workflow>;
  workflows(parent: string, page: PageCall, signal: AbortSignal): Promise<Page<Workflow>>;
  close(): void;
}
