import { assertValue, type StoredValues } from "@taskbridge/core/store";
import { loadScript } from "./redis/load-script.ts";
import type { Call } from "./redis/redis-port.ts";
import type { StoreContext } from "./store-context.ts";
import { fromName, toName } from "./to-name.ts";

const writeScript = loadScript("write-value");

export const createValues = (
  { port, keys }: StoreContext,
  startCall: (operation: string, isDurable?: boolean) => Call,
): StoredValues => ({
  read: async (name) => {
    const [value] = await port.send(startCall("values.read"), [{ call: ["get", keys.value(name)] }]);
    return typeof value === "string" ? fromName(value) : undefined;
  },
  write: async (name, value, previous, { durable = true } = {}) => {
    assertValue(name, value);
    const args = [toName(value), previous === undefined ? 0 : 1, toName(previous ?? "")];
    const call = startCall("values.write", durable);
    const [written] = await port.send(call, [{ script: writeScript, keys: [keys.value(name)], args }]);
    return written === 1;
  },
});
