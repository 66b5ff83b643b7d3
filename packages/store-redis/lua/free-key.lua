-- Frees a unique key if its value is still the expected one.
-- KEYS: unique key, lapsing.
-- ARGV: expected value.
-- Replies 1 or 0.

if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
redis.call("ZREM", KEYS[2], KEYS[1])
return 1
