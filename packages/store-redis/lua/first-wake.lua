-- The earliest wake-up of a shard.
-- KEYS: due.
-- Replies the time, or nothing.

return redis.call("ZRANGE", KEYS[1], 0, 0, "WITHSCORES")[2] or false
