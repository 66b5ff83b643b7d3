-- Clears away some of the unique keys that have lapsed. Needs includes/holder.
local function purge(lapsing, at, most)
  for _, key in ipairs(redis.call("ZRANGEBYSCORE", lapsing, "-inf", at, "LIMIT", 0, most)) do
    local holder = redis.call("GET", key)
    if holder then
      local state, _, until_, _, heldUntil = readHolder(holder)
      if hasLapsed(state, until_, heldUntil, at) then redis.call("DEL", key) end
    end
    redis.call("ZREM", lapsing, key)
  end
end
