import { type Call, script } from "./redis/redis-port.ts";
import type { StoreContext } from "./store-context.ts";
import { fromName, toName } from "./to-name.ts";

/** KEYS: the cursor. ARGV: the new one, `1` if there must be one before, which. */
const saveScript = script(`
local kept = redis.call("GET", KEYS[1])
if ARGV[2] == "1" and kept ~= ARGV[3] or ARGV[2] ~= "1" and kept then return 0 end
redis.call("SET", KEYS[1], ARGV[1])
return 1
`);

/** Keeps an event source's position if the one kept is still the one that the caller knows. */
export const saveCursor = async (
  { port, keys }: StoreContext,
  call: Call,
  name: string,
  cursor: string,
  previous: string | undefined,
): Promise<boolean> => {
  const args = [toName(cursor), previous === undefined ? 0 : 1, toName(previous ?? "")];
  const [saved] = await port.send(call, [{ script: saveScript, keys: [keys.cursor(name)], args }]);
  return saved === 1;
};

export const loadCursor = async (
  { port, keys }: StoreContext,
  call: Call,
  name: string,
): Promise<string | undefined> => {
  const [cursor] = await port.send(call, [{ call: ["get", keys.cursor(name)] }]);
  return typeof cursor === "string" ? fromName(cursor) : undefined;
};
