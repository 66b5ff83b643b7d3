-- Clears shards of lapsed unique keys that no create meets, of old aborted attempts and of lapsed removed IDs.
-- KEYS: due, lapsing, aborted and removed of each shard.
-- ARGV: the caller's time.
-- Replies the earliest wake-up of each shard, or nothing.

--- @include "includes/now"
--- @include "includes/holder"
--- @include "includes/purge"
--- @include "includes/forget"
--- @include "includes/removed"

local at, firsts = now(ARGV[1]), {}
for i = 1, #KEYS, 4 do
  purge(KEYS[i + 1], at, 100)
  forget(KEYS[i + 2], at)
  forgetRemoved(KEYS[i + 3], at, 100)
  firsts[#firsts + 1] = redis.call("ZRANGE", KEYS[i], 0, 0, "WITHSCORES")[2] or false
end
return firsts
