import { createHash } from "node:crypto";
import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "@taskbridge/core";
import { invalidParamsCode } from "@taskbridge/protocol";
import type { ServeContext } from "./serve-context.ts";

/** The `requestState` that a call of 2026-07-28 brings back, verified; undefined in the first round. */
export const readCallState = async ({ stateCodec }: ServeContext, request: ServerContext): Promise<unknown> => {
  const sent = request.mcpReq.requestState<unknown>();
  // In somebody else's server nobody has verified it before.
  return typeof sent === "string" ? stateCodec.verify(sent, request).catch(refuseState) : sent;
};

export const refuseState = (): never => {
  throw new ProtocolError(invalidParamsCode, "Invalid or expired requestState", { reason: "invalid_request_state" });
};

/** Binds a state to the arguments of its call: answers to one call are not answers to another. */
export const digestOf = (args: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(inOrder((args ?? {}) as JsonValue)))
    .digest("base64url");

/** The same arguments, whatever order a client sends their members in. */
const inOrder = (value: JsonValue | undefined): JsonValue | undefined => {
  if (Array.isArray(value)) return value.map((item: JsonValue) => inOrder(item) as JsonValue);
  if (typeof value !== "object" || value === null) return value;
  const object = value as JsonObject;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, inOrder(object[name])]),
  );
};
