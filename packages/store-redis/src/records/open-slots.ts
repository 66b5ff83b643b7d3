import { type Command, script } from "../redis/redis-port.ts";

/** Takes a place in a set if there is one. KEYS: the set. ARGV: entry, the most. Replies 0 when it is full. */
const takeSlotScript = script(`
if redis.call("ZSCORE", KEYS[1], ARGV[1]) then return 1 end
if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call("ZADD", KEYS[1], 0, ARGV[1])
return 1
`);

/** Takes a place among the open records of an owner or of a tool. */
export const takeSlot = (set: string, entry: string, most: number): Command => ({
  script: takeSlotScript,
  keys: [set],
  args: [entry, most],
});
