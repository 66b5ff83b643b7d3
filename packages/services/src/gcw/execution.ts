import { randomBytes, randomUUID } from "node:crypto";
import { ApiError } from "./api-error.ts";
import { type Host, sleep } from "./blocking-calls.ts";
import { type Location, newThread, type Program, recordKeysOf, runProgram } from "./run.ts";
import { errorOf, isMap, toJson, type Value, type ValueMap, WorkflowError } from "./values.ts";

/** One execution of a workflow, which runs from its creation on. */
export interface Execution {
  /** Its resource name. */
  readonly name: string;
  readonly id: string;
  readonly revision: string;
  readonly argument: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  readonly createdAt: number;
  readonly state: "ACTIVE" | "SUCCEEDED" | "FAILED" | "CANCELLED";
  readonly callbacks: ReadonlyMap<string, Callback>;
  /** The resource; without `isFull` only what the basic view documents. */
  view(isFull: boolean): object;
  /** Does nothing to an execution that has ended. */
  cancel(): void;
}

/** An endpoint of an execution. */
export interface Callback {
  readonly id: string;
  readonly method: string;
  /** One for each step that awaits the endpoint. */
  readonly waiters: Set<(request: Value) => void>;
  /** A request that no step has taken yet. */
  unread: { readonly request: Value; readonly text: string } | undefined;
}

export interface ExecutionOptions {
  readonly workflow: string;
  readonly revision: string;
  readonly program: Program;
  /** As JSON. */
  readonly argument: string | undefined;
  readonly input: Value | undefined;
  readonly labels: ReadonlyMap<string, string>;
  /** Of the server, for the URLs of callbacks. */
  readonly url: string;
}

export const startExecution = (given: ExecutionOptions): Execution => {
  const { workflow, revision, program, argument, input, labels, url } = given;
  const id = randomUUID();
  const name = `${workflow}/executions/${id}`;
  const createdAt = Date.now();
  const stopping = new AbortController();
  const callbacks = new Map<string, Callback>();
  const host: Host = {
    environment: environmentOf(name, revision),
    createCallback: (method) => {
      const callback: Callback = { id: randomBytes(16).toString("hex"), method, waiters: new Set(), unread: undefined };
      callbacks.set(callback.id, callback);
      return `${url}/v1/${name}/callbacks/${callback.id}`;
    },
    awaitCallback: (address, seconds, signal) => {
      const callback = callbacks.get(address.slice(address.lastIndexOf("/") + 1));
      if (callback === undefined) throw errorOf("ValueError", "callback: this execution has no such endpoint");
      return awaitRequest(callback, seconds, signal);
    },
  };
  const thread = newThread({ host, signal: stopping.signal, steps: 0 });
  let end: { readonly state: Execution["state"]; readonly at: number; readonly shown: object } | undefined;
  const finish = (state: Execution["state"], shown: object = {}): void => {
    end ??= { state, at: Date.now(), shown };
    stopping.abort();
  };
  runProgram(program, input, thread)
    .then((value) => finish("SUCCEEDED", { result: toJson(value) }))
    .catch((error: unknown) => finish("FAILED", { error: failureOf(error, thread.run.last) }));
  const execution: Execution = {
    ...{ name, id, revision, argument, labels, createdAt, callbacks },
    get state() {
      return end?.state ?? "ACTIVE";
    },
    cancel: () => finish("CANCELLED"),
    view: (isFull) => {
      const running = end === undefined ? recordKeysOf(thread) : [];
      const last = thread.run.last === undefined ? [] : [thread.run.last];
      const currentSteps = running.length > 0 ? running : last;
      return {
        name,
        startTime: new Date(createdAt).toISOString(),
        state: execution.state,
        workflowRevisionId: revision,
        duration: toDuration((end?.at ?? Date.now()) - createdAt),
        ...(end === undefined ? {} : { endTime: new Date(end.at).toISOString() }),
        ...(isFull && {
          createTime: new Date(createdAt).toISOString(),
          ...(labels.size > 0 && { labels: Object.fromEntries(labels) }),
          ...(argument !== undefined && { argument }),
          ...(currentSteps.length > 0 && { status: { currentSteps } }),
          ...end?.shown,
        }),
      };
    },
  };
  return execution;
};

/** As JSON has a google.protobuf.Duration. */
const toDuration = (ms: number): string => `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, "0")}000000s`;

const environmentOf = (name: string, revision: string): Readonly<Record<string, string>> => {
  const [, project = "", , location = "", , workflow = "", , id = ""] = name.split("/");
  return {
    GOOGLE_CLOUD_PROJECT_ID: project,
    GOOGLE_CLOUD_PROJECT_NUMBER: "0",
    GOOGLE_CLOUD_LOCATION: location,
    GOOGLE_CLOUD_WORKFLOW_ID: workflow,
    GOOGLE_CLOUD_WORKFLOW_REVISION_ID: revision,
    GOOGLE_CLOUD_WORKFLOW_EXECUTION_ID: id,
    GOOGLE_CLOUD_WORKFLOW_EXECUTION_ATTEMPT: "1",
    GOOGLE_CLOUD_SERVICE_ACCOUNT_NAME: `gcw@${project}.iam.gserviceaccount.com`,
  };
};

/** A request that came before is taken at once. */
const awaitRequest = async (callback: Callback, seconds: number, signal: AbortSignal): Promise<Value> => {
  const { unread, waiters } = callback;
  callback.unread = undefined;
  if (unread !== undefined) return unread.request;
  const taken = new AbortController();
  let waiter: ((request: Value) => void) | undefined;
  const request = new Promise<Value>((resolve) => {
    waiter = resolve;
    waiters.add(resolve);
  });
  const limit = sleep(seconds, AbortSignal.any([signal, taken.signal])).then(() => {
    if (waiter !== undefined) waiters.delete(waiter);
    throw errorOf("TimeoutError", `no request came within ${seconds} s`);
  });
  try {
    return await Promise.race([request, limit]);
  } finally {
    taken.abort();
    if (waiter !== undefined) waiters.delete(waiter);
  }
};

/**
 * A request to a callback's URL. Documented: 404 once the execution has ended, 429 while a request has not been read, an
 * empty answer. Assumed: 405 for another method.
 * @throws ApiError
 */
export const deliver = (callback: Callback, method: string, request: ValueMap, text: string): void => {
  if (method !== callback.method)
    throw new ApiError(405, "INVALID_ARGUMENT", `the callback expects ${callback.method}`);
  if (callback.unread !== undefined)
    throw new ApiError(429, "RESOURCE_EXHAUSTED", "a request to this callback has not been read");
  const [waiter] = callback.waiters;
  if (waiter === undefined) callback.unread = { request, text };
  else {
    callback.waiters.delete(waiter);
    waiter(request);
  }
};

/** Execution.Error of the API. */
const failureOf = (error: unknown, at: Location | undefined): object => {
  const value = error instanceof WorkflowError ? error.value : new Map([["message", String(error)]]);
  const tags = isMap(value) ? (value.get("tags") ?? null) : null;
  const payload = toJson(value);
  const summary =
    Array.isArray(tags) && tags.length > 0
      ? `${toJson(tags)}: ${(error as Error).message}`
      : `RuntimeError: ${payload}`;
  const where = at === undefined ? "" : `\nin step "${at.step}", routine "${at.routine}"`;
  return { payload, context: summary + where, stackTrace: at === undefined ? {} : { elements: [at] } };
};
