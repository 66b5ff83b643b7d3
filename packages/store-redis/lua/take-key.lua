-- Takes a unique key.
-- KEYS: unique key, lapsing.
-- ARGV: value to keep under the key, `until` or "", the caller's time.
-- Replies nothing when the key is taken now, else the value under the key.

--- @include "includes/now"
--- @include "includes/holder"
--- @include "includes/purge"

local at = now(ARGV[3])
-- More than one call can add.
purge(KEYS[2], at, 4)
local kept = redis.call("GET", KEYS[1])
if kept and kept ~= ARGV[1] then
  local state, _, until_, _, heldUntil = readHolder(kept)
  if not hasLapsed(state, until_, heldUntil, at) then return kept end
end
redis.call("SET", KEYS[1], ARGV[1])
if ARGV[2] == "" then redis.call("ZREM", KEYS[2], KEYS[1]) else redis.call("ZADD", KEYS[2], ARGV[2], KEYS[1]) end
return false
