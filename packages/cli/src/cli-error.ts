import { isBridgeError } from "@taskbridge/core/adapter";
import { ConfigError } from "./config/config-error.ts";

/** What the shell is told. */
export const exitCodes = { completed: 0, failed: 1, usage: 2, interrupted: 130 } as const;

export interface CliErrorDetails extends ErrorOptions {
  /** What programs are told that it is. Default: by the exit code, `failed`, `usage` or `interrupted`. */
  readonly code?: string;
  /** The task that it is about, where there is one. */
  readonly taskId?: string;
  /** What a person can do: printed below the message, but in no document. */
  readonly hint?: string;
  /** It is on stderr already. */
  readonly isReported?: boolean;
  /** The command had printed on stdout what it was to print. */
  readonly isAfterOutput?: boolean;
}

/** Ends a command with a message on stderr, without a stack. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  readonly exitCode: number;
  readonly details: CliErrorDetails;

  constructor(message: string, exitCode: number = exitCodes.failed, details: CliErrorDetails = {}) {
    super(message, details);
    this.exitCode = exitCode;
    this.details = details;
  }
}

export const usageError = (message: string): CliError => new CliError(message, exitCodes.usage);

export const interruptedError = (message: string, details: Pick<CliErrorDetails, "taskId" | "hint"> = {}): CliError =>
  new CliError(message, exitCodes.interrupted, details);

export interface Failure extends Omit<CliErrorDetails, "cause"> {
  readonly message: string;
  readonly exitCode: number;
  readonly code: string;
  /** Of a programming error: what to print on stderr instead of the message. */
  readonly stack?: string;
}

/** What to print and with what to exit for anything that was thrown. A programming error keeps its stack. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof CliError) {
    const { message, exitCode, details } = error;
    return { code: codeOf(exitCode), ...details, message, exitCode };
  }
  if (error instanceof ConfigError) {
    return { code: "misconfigured", message: error.message, exitCode: exitCodes.usage };
  }
  if (isBridgeError(error)) {
    const { code, message } = error;
    // What could be meant is named: the command can be given again.
    const isAmbiguous = code === "conflict" && error.data?.["taskIds"] !== undefined;
    const isUsage = isAmbiguous || code === "invalid_input" || code === "misconfigured" || code === "unsupported";
    return { code, message, exitCode: isUsage ? exitCodes.usage : exitCodes.failed };
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return { code: "internal", message, exitCode: exitCodes.failed, ...(stack === undefined ? {} : { stack }) };
};

const codeOf = (exitCode: number): string => {
  if (exitCode === exitCodes.interrupted) return "interrupted";
  return exitCode === exitCodes.usage ? "usage" : "failed";
};
