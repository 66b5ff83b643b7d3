import { isTaskClientError, type RpcFault, type TaskClientError } from "@taskbridge/client";
import { CliError, exitCodes } from "../cli-error.ts";

const invalidParams = -32_602;

/** What a request to a server has rejected with, as what the command ends with. Errors of others are given back. */
export const toCliError = (error: unknown, url: URL, method?: string): unknown => {
  if (!isTaskClientError(error)) return error;
  if (error.httpStatus === 401) return tokenNeeded(url);
  const { code, taskId } = error;
  const details = { cause: error, code, ...(taskId === undefined ? {} : { taskId }) };
  if (error.rpc !== undefined) {
    const isUsage = error.rpc.code === invalidParams && method === "tools/call";
    return new CliError(formatFault(error.rpc), isUsage ? exitCodes.usage : exitCodes.failed, details);
  }
  return new CliError(`${url}: ${error.message}`, exitCodes.failed, details);
};

/** In the server's words. */
const formatFault = ({ code, message, data }: RpcFault): string =>
  `${message} (${code})${data === undefined ? "" : ` ${JSON.stringify(data)}`}`;

/** What is told while a server cannot be reached. */
export const toTrouble = (error: TaskClientError, url: URL): string => `${url}: ${error.message}; trying again …`;

interface ConnectFault {
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  /** Of several tries. */
  readonly errors?: readonly unknown[];
  readonly data?: { readonly status?: number; readonly text?: string };
}

/** What connecting has rejected with. */
export const toConnectError = (error: unknown, url: URL): CliError => {
  const faults = causesOf(error);
  const { data } = faults.find((fault) => fault.data?.status !== undefined) ?? {};
  if (data?.status === 401) return tokenNeeded(url);
  if (data?.status !== undefined) {
    const said = `HTTP ${data.status}: ${(data.text ?? "").slice(0, 200)}`;
    return new CliError(`${url}: ${said}`, exitCodes.failed, { cause: error, code: "refused" });
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
