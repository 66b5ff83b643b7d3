/** One execution. Times are epoch milliseconds; texts are JSON as AWS keeps them, `cause` is any text. */
export interface ExecutionDetails {
  readonly arn: string;
  readonly status: string;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
  readonly redriveCount?: number | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next?: string | undefined;
}

/** An event of an execution's history, without what we do not read. */
export interface HistoryEvent {
  readonly id: number;
  /** 0 for the first; branches of Parallel and Map share one. */
  readonly previousId: number;
  readonly type: string;
  readonly at: number;
  /** Of a state that is entered or left, and of a Map whose item begins or ends. */
  readonly state?: string | undefined;
  /** Of a scheduled task. */
  readonly task?: ScheduledTask | undefined;
  /** Items of an inline Map. */
  readonly length?: number | undefined;
  readonly mapRunArn?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}

export interface ScheduledTask {
  readonly resource: string;
  readonly parameters: string;
  readonly timeoutMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
}

export interface Machine {
  readonly arn: string;
  readonly name: string;
  /** `STANDARD` or `EXPRESS`. */
  readonly type: string;
  readonly description?: string | undefined;
}

/** The calls of Step Functions that we make. Each rejects with a `BridgeError`, and promptly once the signal fires. */
export interface SfnClient {
  region(signal: AbortSignal): Promise<string>;
  start(call: StartCall, signal: AbortSignal): Promise<{ readonly arn: string; readonly startedAt: number }>;
  /** Waits for the end of an Express execution: five minutes at most. */
  startSync(call: StartCall, signal: AbortSignal): Promise<ExecutionDetails>;
  describe(arn: string, signal: AbortSignal): Promise<ExecutionDetails>;
  /** Running executions of a machine, the newest first. */
  listRunning(
    machineArn: string,
    page: PageCall,
    signal: AbortSignal,
  ): Promise<Page<Pick<ExecutionDetails, "arn" | "startedAt">>>;
  /** The newest events first. */
  history(arn: string, page: PageCall, signal: AbortSignal): Promise<Page<HistoryEvent>>;
  /** How far a distributed Map has come, in items. */
  mapRun(arn: string, signal: AbortSignal): Promise<{ readonly done: number; readonly total: number }>;
  stop(arn: string, fault: { readonly error: string; readonly cause: string }, signal: AbortSignal): Promise<void>;
  succeedTask(token: string, output: string, signal: AbortSignal): Promise<void>;
  failTask(
    token: string,
    fault: { readonly error: string; readonly cause: string },
    signal: AbortSignal,
  ): Promise<void>;
  keepTask(token: string, signal: AbortSignal): Promise<void>;
  machine(arn: string, signal: AbortSignal): Promise<Machine>;
  listMachines(page: PageCall, signal: AbortSignal): Promise<Page<Machine>>;
  tags(arn: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  close(): void;
}

export interface StartCall {
  /** Also of a version or an alias. */
  readonly machineArn: string;
  readonly name: string;
  readonly input: string;
}

export interface PageCall {
  readonly size: number;
  readonly token?: string | undefined;
}
