import { setTimeout as delay } from "node:timers/promises";
import type { Arguments } from "./functions.ts";
import { errorOf, parseJson, type Tag, toJson, type Value, type ValueMap, WorkflowError } from "./values.ts";

/** What an execution offers its workflow. */
export interface Host {
  /** The values of `sys.get_env`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens an endpoint and gives its URL. */
  createCallback(method: string): string;
  /**
   * The next request to an endpoint of this execution.
   * @throws A WorkflowError when none comes in time, or the URL is of no endpoint.
   */
  awaitCallback(url: string, seconds: number, signal: AbortSignal): Promise<Value>;
}

/** A function that only a `call` step may call. Each ends with `signal`. */
export interface BlockingCall {
  readonly params: readonly string[];
  run(args: Arguments, host: Host, signal: AbortSignal): Promise<Value>;
}

/** Documented: half an hour at most, five minutes unless set. */
const httpSeconds = { max: 1_800, unset: 300 };
/** Documented of `events.await_callback`. */
const awaitSeconds = 43_200;
/** A timer of Node ends at once beyond 2^31 ms. */
const maxTimerMs = 2 ** 30;

export const sleep = async (seconds: number, signal: AbortSignal): Promise<void> => {
  const until = Date.now() + seconds * 1000;
  for (let left = seconds * 1000; left > 0; left = until - Date.now())
    await delay(Math.min(left, maxTimerMs), undefined, { signal });
};

/** @throws A ValueError of workflows when the number is below zero. */
const secondsOf = (args: Arguments, name: string): number => {
  const seconds = Number(args.number(name));
  if (!(seconds >= 0)) throw errorOf("ValueError", `${name} is ${seconds}`);
  return seconds;
};

const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];

const methodOf = (args: Arguments, name: string): string => {
  const method = args.text(name).toUpperCase();
  if (!methods.includes(method)) throw errorOf("ValueError", `${name} is ${method}`);
  return method;
};

const textsOf = (map: ValueMap): [string, string][] =>
  [...map].map(([key, value]) => [key, typeof value === "string" ? value : toJson(value)]);

const toBody = (body: Value, headers: Headers): NonNullable<RequestInit["body"]> => {
  const type = headers.get("content-type");
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (type === null) headers.set("content-type", typeof body === "string" ? "text/plain" : "application/json");
  return typeof body === "string" ? body : toJson(body);
};

const fromBody = (bytes: Buffer, type: string): Value => {
  if (bytes.length === 0) return null;
  if (/^application\/([\w.-]+\+)?json\b/.test(type)) return parseJson(bytes.toString());
  return /^text\/|charset=/.test(type) ? bytes.toString() : bytes;
};

const headerName = (name: string): string =>
  name.replace(/(^|-)[a-z]/g, (replicaMessage) => replicaMessage.toUpperCase());

const unreachable = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** What kept a request from its answer. */
const toError = (error: unknown): WorkflowError => {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } };
  const tag: Tag = unreachable.includes(cause?.code ?? "") ? "ConnectionFailedError" : "ConnectionError";
  return errorOf(name === "TimeoutError" ? "TimeoutError" : tag, `${message}: ${cause?.code ?? name}`);
};

const request = async (method: string, args: Arguments, signal: AbortSignal): Promise<Value> => {
  const headers = new Headers(args.has("headers") ? textsOf(args.map("headers")) : []);
  // No token of any account is needed here, but a server may want to see one.
  if (args.has("auth")) headers.set("authorization", "Bearer gcw");
  const address = args.text("url");
  if (!URL.canParse(address)) throw errorOf("ValueError", `url is ${address}`);
  const url = new URL(address);
  if (args.has("query")) for (const [key, value] of textsOf(args.map("query"))) url.searchParams.append(key, value);
  const seconds = args.has("timeout") ? secondsOf(args, "timeout") : httpSeconds.unset;
  const limit = AbortSignal.timeout(Math.min(seconds, httpSeconds.max) * 1000);
  const body = args.has("body") ? { body: toBody(args.any("body"), headers) } : {};
  try {
    const answer = await fetch(url, { method, headers, ...body, signal: AbortSignal.any([signal, limit]) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const shown = {
      body: fromBody(bytes, answer.headers.get("content-type") ?? ""),
      code: BigInt(answer.status),
      headers: new Map([...answer.headers].map(([name, value]) => [headerName(name), value])),
    };
    // JSON has no bytes, and an error may become the execution's.
    const failed = { ...shown, body: shown.body instanceof Uint8Array ? bytes.toString() : shown.body };
    if (answer.status >= 400) throw errorOf("HttpError", `the server answered with ${answer.status}`, failed);
    return new Map<string, Value>(Object.entries(shown));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof WorkflowError ? error : toError(error);
  }
};

const httpParams = ["url", "headers?", "body?", "query?", "auth?", "timeout?"];
const http = (method: string): BlockingCall => ({
  params: httpParams,
  run: (args, _host, signal) => request(method, args, signal),
});

export const blockingCalls: Readonly<Record<string, BlockingCall>> = {
  "http.get": http("GET"),
  "http.post": http("POST"),
  "http.put": http("PUT"),
  "http.patch": http("PATCH"),
  "http.delete": http("DELETE"),
  "http.request": {
    params: ["method", ...httpParams],
    run: (args, _host, signal) => request(methodOf(args, "method"), args, signal),
  },
  "sys.log": { params: ["data?", "text?", "json?", "severity?"], run: async () => null },
  "sys.sleep": {
    params: ["seconds"],
    run: async (args, _host, signal) => {
      await sleep(secondsOf(args, "seconds"), signal);
      return null;
    },
  },
  "events.create_callback_endpoint": {
    params: ["http_callback_method?"],
    run: async (args, host) => {
      const method = args.has("http_callback_method") ? methodOf(args, "http_callback_method") : "POST";
      return new Map([["url", host.createCallback(method)]]);
    },
  },
  "events.await_callback": {
    params: ["callback", "timeout?"],
    run: (args, host, signal) => {
      const url = args.map("callback").get("url");
      const seconds = args.has("timeout") ? secondsOf(args, "timeout") : awaitSeconds;
      return host.awaitCallback(typeof url === "string" ? url : "", seconds, signal);
    },
  },
};
