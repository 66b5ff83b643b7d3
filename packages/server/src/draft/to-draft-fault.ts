import { ProtocolError } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import type { RpcError } from "@taskbridge/protocol";
import { toUnknownTaskError } from "@taskbridge/protocol/sep-1686";

export const toFault = ({ code, message, data }: RpcError): ProtocolError => new ProtocolError(code, message, data);

/** A task that there is not is answered in the draft's words; what else may be wrong is not the draft's. */
export const inDraftWords = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (!isBridgeError(error) || error.code !== "not_found") throw error;
    throw toFault(toUnknownTaskError(error));
  }
};
