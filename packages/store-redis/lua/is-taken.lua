-- Whether a task ID is taken.
-- KEYS: record, removed.
-- ARGV: ID.
-- Replies 1 or 0.

--- @include "includes/now"
--- @include "includes/removed"

local isTaken = redis.call("EXISTS", KEYS[1]) == 1 or isRemoved(KEYS[2], ARGV[1], serverTime())
return isTaken and 1 or 0
