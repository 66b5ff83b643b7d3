-- Claims a due record.
-- KEYS: record, due, claims.
-- ARGV: ID, the caller's time, for how long (milliseconds).
-- Replies the stored text, or nothing when the record is no longer due or is claimed.

--- @include "includes/now"

local record, due, claims = KEYS[1], KEYS[2], KEYS[3]
local at = now(ARGV[2])
local wakeAt = redis.call("ZSCORE", due, ARGV[1])
if not wakeAt or tonumber(wakeAt) > at then return false end
redis.call("ZREMRANGEBYSCORE", claims, "-inf", at)
if redis.call("ZSCORE", claims, ARGV[1]) then return false end
redis.call("ZADD", claims, at + ARGV[3], ARGV[1])
return redis.call("GET", record)
