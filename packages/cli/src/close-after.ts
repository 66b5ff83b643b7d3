import { CliError, toFailure } from "./cli-error.ts";

/**
 * Acts, then closes what the action needed. Of an action that fails, its own error is what is told; what only closing fails
 * with comes after the output.
 */
export const closeAfter = async <Value>(
  action: () => Promise<Value>,
  close: () => Promise<unknown>,
): Promise<Value> => {
  const value = await action().catch(async (error: unknown) => {
    await close().catch((cause: unknown) => process.stderr.write(`closing: ${toFailure(cause).message}\n`));
    throw error;
  });
  try {
    await close();
  } catch (cause) {
    const { message, stack = message, exitCode, code } = toFailure(cause);
    throw new CliError(stack, exitCode, { cause, code, isAfterOutput: true });
  }
  return value;
};
