import { randomUUID } from "node:crypto";
import type { Lease } from "@taskbridge/core/store";
import { loadScript } from "./redis/load-script.ts";
import type { Call } from "./redis/redis-port.ts";
import type { StoreContext } from "./store-context.ts";

const renewScript = loadScript("renew-lease");
const releaseScript = loadScript("release-lease");

/**
 * Takes a lease, which Redis lets lapse by its own clock. It alone of all that is kept may also go when memory is short: then
 * something is done twice that need not be.
 */
export const acquireLease = async (
  { port, keys }: StoreContext,
  startCall: (operation: string) => Call,
  name: string,
  ttlMs: number,
): Promise<Lease | undefined> => {
  const lease = keys.lease(name);
  const holder = randomUUID();
  const ms = Math.max(1, Math.ceil(ttlMs));
  const [taken] = await port.send(startCall("lease"), [{ call: ["set", lease, holder, "PX", ms, "NX"] }]);
  if (taken === null) return undefined;
  return {
    renew: async () => {
      const [renewed] = await port.send(startCall("lease.renew"), [
        { script: renewScript, keys: [lease], args: [holder, ms] },
      ]);
      return renewed === 1;
    },
    release: async () => {
      await port.send(startCall("lease.release"), [{ script: releaseScript, keys: [lease], args: [holder] }]);
    },
  };
};
