import { randomUUID } from "node:crypto";
import type { Lease } from "@taskbridge/core/store";
import { type Call, script } from "./redis/redis-port.ts";
import type { StoreContext } from "./store-context.ts";

/** KEYS: the lease. ARGV: holder, for how long (milliseconds). */
const renewScript = script(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
`);

/** KEYS: the lease. ARGV: holder. */
const releaseScript = script(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
`);

/**
 * Takes a lease, which Redis lets lapse by its own clock. It alone of all that is kept may also go when memory is short: then
 * something is done twice that need not be.
 */
export const takeLease = async (
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
