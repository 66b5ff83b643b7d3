-- Raises the wake hint of a shard if it is still the expected one.
-- KEYS: hints.
-- ARGV: shard, expected hint, new hint or "".
-- Replies 1 or 0.

local hint = redis.call("ZSCORE", KEYS[1], ARGV[1])
if not hint or tonumber(hint) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == "" then redis.call("ZREM", KEYS[1], ARGV[1]) else redis.call("ZADD", KEYS[1], ARGV[3], ARGV[1]) end
return 1
