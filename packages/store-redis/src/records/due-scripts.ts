import { type Script, script } from "../redis/redis-port.ts";
import { luaForget, luaNow, luaRemoved } from "./record-scripts.ts";
import { luaHolder, luaPurge } from "./unique-keys.ts";

// Scores go through scripts, which write numbers as texts for any client: what a client makes of them depends on its protocol.

/** KEYS: hints. ARGV: until when, how many. Replies shard and time by turns, earliest first. */
export const hintsScript: Script = script(`
return redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", ARGV[1], "WITHSCORES", "LIMIT", 0, ARGV[2])
`);

/** KEYS: hints. ARGV: shard, its hint as it was seen, what it may be raised to or nothing. */
export const raiseScript: Script = script(`
local hint = redis.call("ZSCORE", KEYS[1], ARGV[1])
if not hint or tonumber(hint) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == "" then redis.call("ZREM", KEYS[1], ARGV[1]) else redis.call("ZADD", KEYS[1], ARGV[3], ARGV[1]) end
return 1
`);

/** KEYS: due. Replies the earliest wake-up, or nothing. */
export const firstScript: Script = script(`
return redis.call("ZRANGE", KEYS[1], 0, 0, "WITHSCORES")[2] or false
`);

/**
 * What is due in one shard. KEYS: due, claims. ARGV: until when, how many, `1` to pass over what is claimed. Replies the earliest
 * wake-up of the shard or nothing, then IDs and times by turns.
 */
export const candidatesScript: Script = script(`
local due, claims = KEYS[1], KEYS[2]
local at, most, passes = ARGV[1], tonumber(ARGV[2]), ARGV[3] == "1"
local found = { redis.call("ZRANGE", due, 0, 0, "WITHSCORES")[2] or "" }
local offset, step = 0, most
while #found < 1 + 2 * most do
  local page = redis.call("ZRANGEBYSCORE", due, "-inf", at, "WITHSCORES", "LIMIT", offset, step)
  for i = 1, #page, 2 do
    local claimed = passes and redis.call("ZSCORE", claims, page[i])
    if #found < 1 + 2 * most and not (claimed and tonumber(claimed) > tonumber(at)) then
      found[#found + 1] = page[i]
      found[#found + 1] = page[i + 1]
    end
  end
  if #page < 2 * step then break end
  offset, step = offset + step, 100
end
return found
`);

/**
 * Hands out one record. KEYS: record, due, claims. ARGV: ID, the caller's time, for how long (milliseconds). Replies the stored text,
 * or nothing when it is no longer due or somebody else's.
 */
export const claimScript: Script = script(`${luaNow}
local record, due, claims = KEYS[1], KEYS[2], KEYS[3]
local at = now(ARGV[2])
local wakeAt = redis.call("ZSCORE", due, ARGV[1])
if not wakeAt or tonumber(wakeAt) > at then return false end
redis.call("ZREMRANGEBYSCORE", claims, "-inf", at)
if redis.call("ZSCORE", claims, ARGV[1]) then return false end
redis.call("ZADD", claims, at + ARGV[3], ARGV[1])
return redis.call("GET", record)
`);

/**
 * Looks after shards. KEYS: due, lapsing, aborted and removed of each. ARGV: the caller's time. Clears away unique keys that have lapsed where no
 * create comes by, attempts that are long over and IDs that have been removed for long, and replies the earliest wake-up of each, or nothing.
 */
export const tendScript: Script = script(`${luaNow}${luaHolder}${luaPurge}${luaForget}${luaRemoved}
local at, firsts = now(ARGV[1]), {}
for i = 1, #KEYS, 4 do
  purge(KEYS[i + 1], at, 100)
  forget(KEYS[i + 2], at)
  forgetRemoved(KEYS[i + 3], at, 100)
  firsts[#firsts + 1] = redis.call("ZRANGE", KEYS[i], 0, 0, "WITHSCORES")[2] or false
end
return firsts
`);
