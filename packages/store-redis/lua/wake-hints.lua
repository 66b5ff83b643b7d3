-- The wake hints of the shards, earliest first.
-- KEYS: hints.
-- ARGV: latest time, how many.
-- Replies shard and time by turns.

return redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", ARGV[1], "WITHSCORES", "LIMIT", 0, ARGV[2])
