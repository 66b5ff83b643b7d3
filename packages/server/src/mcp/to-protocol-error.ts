import { MissingRequiredClientCapabilityError, ProtocolError } from "@modelcontextprotocol/server";
import { isBridgeError } from "@taskbridge/core";
import { internalErrorCode, toRpcError } from "@taskbridge/protocol";
import { missingExtension } from "@taskbridge/protocol/tasks-2026-07-28";
import type { ServerLog } from "../server-log.ts";

/** The answer for an error of a handler. What is not ours to explain is logged and told as nothing but an internal error. */
export const toProtocolError = (error: unknown, log: ServerLog): Error => {
  if (error instanceof ProtocolError) return error;
  if (isBridgeError(error) && error.code !== "internal") {
    const { code, message, data } = toRpcError(error);
    // The caller is told less than there is to know. A store that is away fails every request: the engine tells of it as well.
    const level = error.code === "unavailable" ? "debug" : "error";
    if (message !== error.message) log[level]({ err: error }, "a request could not be answered");
    return new ProtocolError(code, message, data);
  }
  log.error({ err: error }, "a request could not be answered");
  return new ProtocolError(internalErrorCode, "Internal error");
};

export const missingTasksExtension = (): ProtocolError =>
  new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { ...missingExtension.requiredCapabilities.extensions } },
  });
