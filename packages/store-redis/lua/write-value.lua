-- Writes a value if the one that is kept is still the one that the caller knows.
-- KEYS: value.
-- ARGV: the new value, `1` if there must be one before, which.
-- Replies 1 or 0.

local kept = redis.call("GET", KEYS[1])
if ARGV[2] == "1" and kept ~= ARGV[3] or ARGV[2] ~= "1" and kept then return 0 end
redis.call("SET", KEYS[1], ARGV[1])
return 1
