-- Keeps an attempt to create a record from writing it later.
-- KEYS: record, aborted.
-- ARGV: attempt, the caller's time.
-- Replies the stored text when there is a record, of this attempt or of another; else nothing.

--- @include "includes/now"
--- @include "includes/forget"

local value = redis.call("GET", KEYS[1])
if value then return value end
local at = now(ARGV[2])
forget(KEYS[2], at)
redis.call("ZADD", KEYS[2], at, ARGV[1])
return false
