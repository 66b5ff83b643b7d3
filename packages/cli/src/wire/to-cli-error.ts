import { isTaskClientError, type RpcFault, type TaskClientError } from "@taskbridge/client";
import { CliError, exitCodes } from "../cli-error.ts";
import { formatCount } from "../terminal/format-task.ts";
import { listCommand } from "../terminal/task-command.ts";

const invalidParams = -32_602;
/** Of servers of ours. */
const limitExceeded = 429;
const unavailable = 503;

/** The server that was asked, and how. */
export interface Asked {
  readonly url: URL;
  readonly wire: string;
}

/** What a request to a server has rejected with, as what the command ends with. Errors of others are given back. */
export const toCliError = (error: unknown, { url, wire }: Asked, method?: string): unknown => {
  if (!isTaskClientError(error)) return error;
  if (error.httpStatus === 401) return tokenNeeded(url);
  const { code, taskId } = error;
  const isUnavailable = error.rpc?.code === unavailable;
  const details = {
    cause: error,
    code: isUnavailable ? "unavailable" : code,
    ...(taskId === undefined ? {} : { taskId }),
  };
  if (error.rpc !== undefined) {
    if (error.rpc.code === limitExceeded) {
      return new CliError(formatLimit(error.rpc, { url, wire }), exitCodes.failed, details);
    }
    return new CliError(
      formatFault(error.rpc),
      isUsage(error.rpc, method) ? exitCodes.usage : exitCodes.failed,
      details,
    );
  }
  return new CliError(`${url}: ${error.message}`, exitCodes.failed, details);
};

/** What was given does not fit. That there is no such task has the same code. */
const isUsage = ({ code, data }: RpcFault, method: string | undefined): boolean => {
  if (code !== invalidParams) return false;
  const { path } = (isFault(data) ? data : {}) as { readonly path?: unknown };
  return method === "tools/call" || (typeof path === "string" && path.startsWith("inputResponses."));
};

/** The IDs of the tasks that are in the way go to programs with the cause; a person gets the command that lists them. */
const formatLimit = ({ message, data }: RpcFault, { url, wire }: Asked): string => {
  const { openTaskIds } = (isFault(data) ? data : {}) as { readonly openTaskIds?: unknown };
  if (!Array.isArray(openTaskIds) || openTaskIds.length === 0) return message;
  return `${formatCount(openTaskIds.length, "task")} ${openTaskIds.length === 1 ? "has" : "have"} not ended, and the server takes no more at once; \`${listCommand(url, wire)}\`, or \`taskbridge tasks list\` on its host, shows them`;
};

/** In the server's words. */
const formatFault = ({ code, message, data }: RpcFault): string =>
  `${message} (${code})${data === undefined ? "" : ` ${JSON.stringify(data)}`}`;

/** What is told while a server cannot be reached. */
export const toTrouble = (error: TaskClientError, url: URL): string => `${url}: ${error.message}; trying again …`;

/** What is told while a server takes no requests. */
export const toUnready = (error: unknown, url: URL): string => `${toConnectError(error, url).message}; trying again …`;

/** Where a server does not say. */
const usualWaitMs = 1_000;
const maxWaitMs = 30_000;

/** After how long (milliseconds) to connect again to a server that takes no requests at present. Undefined: it is something else. */
export const toWait = (error: unknown): number | undefined => {
  const fault = causesOf(error).find(({ code, data }) => code === unavailable || data?.status === unavailable);
  if (fault === undefined) return undefined;
  const wantedMs = fault.data?.retryAfterMs ?? Number(/"retryAfterMs":\s*(\d+)/.exec(fault.data?.text ?? "")?.[1]);
  return Math.min(wantedMs > 0 ? wantedMs : usualWaitMs, maxWaitMs);
};

interface ConnectFault {
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  /** Of several tries. */
  readonly errors?: readonly unknown[];
  readonly data?: { readonly status?: number; readonly text?: string; readonly retryAfterMs?: number };
}

/** What connecting has rejected with. */
export const toConnectError = (error: unknown, url: URL): CliError => {
  const faults = causesOf(error);
  const { data } = faults.find((fault) => fault.data?.status !== undefined) ?? {};
  if (data?.status === 401) return tokenNeeded(url);
  if (data?.status !== undefined) {
    const said = `HTTP ${data.status}: ${(data.text ?? "").slice(0, 200)}`;
    const code = data.status === unavailable ? "unavailable" : "refused";
    return new CliError(`${url}: ${said}`, exitCodes.failed, { cause: error, code });
  }
  return new CliError(`${url}: ${reasonsOf(faults)}`, exitCodes.failed, { cause: error, code: "unreachable" });
};

/** An error may be its own cause. */
const deepestCause = 10;

/** The error and what it was caused by, the deepest last. Where several addresses were tried, what came of the first. */
const causesOf = (error: unknown): readonly ConnectFault[] => {
  const faults: ConnectFault[] = [];
  for (let next = error; isFault(next) && faults.length < deepestCause; next = next.errors?.[0] ?? next.cause) {
    faults.push(next);
  }
  return faults;
};

const isFault = (value: unknown): value is ConnectFault => typeof value === "object" && value !== null;

/** `fetch failed (ECONNREFUSED)`: what was tried, and the deepest reason, by its code where it has one. */
const reasonsOf = (faults: readonly ConnectFault[]): string => {
  const [first, ...causes] = faults;
  const said = first?.message || "the connection failed";
  const { code, message } = causes.at(-1) ?? {};
  const reason = typeof code === "string" ? code : (message ?? "");
  return said.includes(reason) ? said : `${said} (${reason})`;
};

const tokenNeeded = (url: URL): CliError =>
  new CliError(
    `${url}: a token is needed, or this one is not accepted: --token or TASKBRIDGE_TOKEN`,
    exitCodes.failed,
    {
      code: "unauthorized",
    },
  );
