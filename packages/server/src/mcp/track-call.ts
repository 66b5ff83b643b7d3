import type { Result } from "@modelcontextprotocol/server";
import type { ServeContext } from "./serve-context.ts";
import { toProtocolError } from "./to-protocol-error.ts";

/** Errors become the protocol's, and a stop knows what is still to be answered. */
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
