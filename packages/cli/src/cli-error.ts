import { isBridgeError } from "@taskbridge/core/adapter";
import { ConfigError } from "./config/config-error.ts";

/** What the shell is told. */
export const exitCodes = { completed: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Ends a command with a message on stderr, without a stack. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export const usageError = (message: string): CliError => new CliError(message, exitCodes.usage);

/** What to print and with what to exit for anything that was thrown. A programming error keeps its stack. */
export const toFailure = (error: unknown): { message: string; exitCode: number } => {
  if (error instanceof CliError) return error;
  if (error instanceof ConfigError) return { message: error.message, exitCode: exitCodes.usage };
  if (isBridgeError(error)) {
    const isUsage = error.code === "invalid_input" || error.code === "misconfigured" || error.code === "unsupported";
    return { message: error.message, exitCode: isUsage ? exitCodes.usage : exitCodes.failed };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, exitCode: exitCodes.failed };
};
