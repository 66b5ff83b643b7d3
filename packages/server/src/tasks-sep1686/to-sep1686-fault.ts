import { ProtocolError } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import { internalErrorCode, type RpcError } from "@taskbridge/protocol";
import { isUsedId, toUnknownTaskError, toUsedIdError } from "@taskbridge/protocol/tasks-sep1686";

export const toFault = ({ code, message, data }: RpcError): ProtocolError => new ProtocolError(code, message, data);

export const givenUp = (): ProtocolError => new ProtocolError(internalErrorCode, "The call was given up");

/** A task that there is not, or already, is answered in the draft's words; what else may be wrong is not the draft's. */
export const inSep1686Words = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (!isBridgeError(error)) throw error;
    if (error.code === "not_found") throw toFault(toUnknownTaskError(error));
    throw isUsedId(error) ? toFault(toUsedIdError(String(error.data?.taskId))) : error;
  }
};
