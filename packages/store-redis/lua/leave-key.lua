-- Changes a unique key around the removal of its record: `hold` before, `end` after. A key that has lapsed or belongs to another
-- attempt stays as it is.
-- KEYS: unique key, lapsing.
-- ARGV: attempt of the record, `hold` or `end`, the caller's time.
-- Replies 1 or 0.

--- @include "includes/now"
--- @include "includes/holder"

local kept = redis.call("GET", KEYS[1])
if not kept then return 0 end
local state, attempt, until_, heldForMs, heldUntil, holder = readHolder(kept)
local at = now(ARGV[3])
if attempt ~= ARGV[1] or hasLapsed(state, until_, heldUntil, at) then return 0 end
if ARGV[2] == "hold" then
  state = "r"
  if heldForMs ~= "-" then heldUntil = string.format("%.0f", at + heldForMs) end
else
  state = "g"
  if later(until_, heldUntil) <= at then
    redis.call("DEL", KEYS[1])
    redis.call("ZREM", KEYS[2], KEYS[1])
    return 1
  end
end
-- A server that has no memory left lets a script write on that has taken something away: what is removed makes room.
redis.call("DEL", KEYS[1])
redis.call("SET", KEYS[1], table.concat({ state, attempt, until_, heldForMs, heldUntil }, " ") .. "\n" .. holder)
if state == "g" then redis.call("ZADD", KEYS[2], later(until_, heldUntil), KEYS[1]) end
return 1
