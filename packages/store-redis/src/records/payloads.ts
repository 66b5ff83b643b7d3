import {
  assertRange,
  BridgeError,
  isCount,
  type PayloadChunk,
  type PayloadName,
  type PayloadRange,
  type TaskId,
} from "@taskbridge/core/store";
import { loadScript } from "../redis/load-script.ts";
import type { Call } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";

const putScript = loadScript("put-payload");
const readScript = loadScript("read-payload");

/** Writes into a payload, which is one string of Redis and grows. */
export const putPayload = async (
  { port, keys }: StoreContext,
  call: Call,
  taskId: TaskId,
  { name, offset, bytes }: { readonly name: PayloadName; readonly offset: number; readonly bytes: Uint8Array },
): Promise<void> => {
  const refuse = (length: string): BridgeError =>
    new BridgeError("invalid_input", `cannot write at ${offset} of payload ${name}${length}`, {
      operation: "putPayload",
    });
  if (!isCount(offset)) throw refuse("");
  const [outcome] = await port.send(call, [
    {
      script: putScript,
      keys: [keys.record(taskId), keys.payloads(taskId) + name, keys.payloadNames(taskId)],
      args: [name, offset, bytes],
    },
  ]);
  if (outcome === -2) throw new BridgeError("not_found", `there is no task ${taskId}`, { operation: "putPayload" });
  if (outcome !== -1) throw refuse(`, which has ${String(outcome)} bytes`);
};

export const readPayload = async (
  { port, keys }: StoreContext,
  call: Call,
  taskId: TaskId,
  name: PayloadName,
  range: PayloadRange,
): Promise<PayloadChunk | undefined> => {
  assertRange(range);
  const { offset, length } = range;
  const last = Math.min(offset + length, Number.MAX_SAFE_INTEGER) - 1;
  const [reply] = await port.send(call, [
    { script: readScript, keys: [keys.payloads(taskId) + name], args: [offset, last], asBytes: true },
  ]);
  if (reply === null) return undefined;
  const [totalBytes, bytes] = reply as [number, Buffer];
  return { bytes: new Uint8Array(bytes), totalBytes };
};
