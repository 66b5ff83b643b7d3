import type { Result } from "@modelcontextprotocol/server";
import type { ServeContext } from "./serve-context.ts";
import { toProtocolError } from "./to-protocol-error.ts";

/** A stop waits until this is done. */
export const track = async <Value>({ calls }: Pick<ServeContext, "calls">, work: Promise<Value>): Promise<Value> => {
  calls.add(work);
  try {
    return await work;
  } finally {
    calls.delete(work);
  }
};

/**
 * Errors become the protocol's, and a stop knows what is still to be answered. Not by `track`: a stop closes the connection
 * right after the answer, which therefore has to be on its way without any further turn.
 */
export const trackCall = async (context: ServeContext, answer: Promise<Result>): Promise<Result> => {
  context.calls.add(answer);
  try {
    return await answer;
  } catch (error) {
    throw toProtocolError(error, context.log);
  } finally {
    context.calls.delete(answer);
  }
};
