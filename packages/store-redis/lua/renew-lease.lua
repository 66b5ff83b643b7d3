-- Prolongs a lease that the holder still has.
-- KEYS: lease.
-- ARGV: holder, for how long (milliseconds).
-- Replies 1 or 0.

if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
