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

/** Errors become the protocol's, and a stop knows what is still to be answered. */
export const trackCall = async (context: ServeContext, answer: Promise<Result>): Promise<Result> => {
  try {
    return await track(context, answer);
  } catch (error) {
    throw toProtocolError(error, context.log);
  }
};
