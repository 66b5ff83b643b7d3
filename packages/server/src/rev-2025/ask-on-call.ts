import { ProtocolError } from "@modelcontextprotocol/server";
import { internalErrorCode } from "@taskbridge/protocol";
import { firstOf } from "../session/first-of.ts";
import { isRpcError } from "../session/is-rpc-error.ts";
import type { Request2025 } from "../session/request-2025.ts";

/**
 * Asks the client something on the stream of its own call. `refused`: its error, in one line. Rejects when the call is
 * taken back or its stream has closed, which takes the question back as well.
 */
export const askOnCall = async (
  { session, id, signal }: Request2025,
  method: string,
  params: object,
): Promise<{ readonly reply: unknown } | { readonly refused: string }> => {
  const over = firstOf([signal, session.channelOf(id).closed]);
  try {
    return { reply: await session.link.request(method, params, { on: id, signal: over.signal }) };
  } catch (error) {
    if (over.signal.aborted) throw new ProtocolError(internalErrorCode, "The call was given up");
    if (!isRpcError(error)) throw error;
    return { refused: error.message };
  } finally {
    over.release();
  }
};
