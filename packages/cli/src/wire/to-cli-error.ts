import { isTaskClientError, type RpcFault, type TaskClientError } from "@taskbridge/client";
import { CliError, exitCodes } from "../cli-error.ts";

const invalidParams = -32_602;

/** What a request to a server has rejected with, as what the command ends with. Errors of others are given back. */
export const toCliError = (error: unknown, url: URL, method?: string): unknown => {
  if (!isTaskClientError(error)) return error;
  if (error.httpStatus === 401) return tokenNeeded(url);
  if (error.rpc !== undefined) {
    const isUsage = error.rpc.code === invalidParams && method === "tools/call";
    return new CliError(formatFault(error.rpc), isUsage ? exitCodes.usage : exitCodes.failed, { cause: error });
  }
  return new CliError(`${url}: ${error.message}`, exitCodes.failed, { cause: error });
};

/** In the server's words. */
const formatFault = ({ code, message, data }: RpcFault): string =>
  `${message} (${code})${data === undefined ? "" : ` ${JSON.stringify(data)}`}`;

/** What is told while a server cannot be reached. */
export const toTrouble = (error: TaskClientError, url: URL): string => `${url}: ${error.message}; trying again …`;

/** What connecting has rejected with. */
export const toConnectError = (error: unknown, url: URL): CliError => {
  const { message, cause, data } = error as {
    readonly message?: string;
    readonly cause?: { readonly code?: string; readonly message?: string };
    readonly data?: { readonly status?: number; readonly text?: string };
  };
  if (data?.status === 401) return tokenNeeded(url);
  const reason = cause?.code ?? cause?.message;
  const said = data?.status === undefined ? String(message) : `HTTP ${data.status}: ${(data.text ?? "").slice(0, 200)}`;
  return new CliError(`${url}: ${said}${reason === undefined ? "" : ` (${reason})`}`, exitCodes.failed, {
    cause: error,
  });
};

const tokenNeeded = (url: URL): CliError =>
  new CliError(`${url}: a token is needed, or this one is not accepted: --token or TASKBRIDGE_TOKEN`);
