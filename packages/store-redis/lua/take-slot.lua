-- Adds an entry to a set unless the set is full.
-- KEYS: set.
-- ARGV: entry, most entries.
-- Replies 1, or 0 when the set is full.

if redis.call("ZSCORE", KEYS[1], ARGV[1]) then return 1 end
if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call("ZADD", KEYS[1], 0, ARGV[1])
return 1
