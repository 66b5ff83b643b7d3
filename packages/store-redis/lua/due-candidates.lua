-- The due records of one shard.
-- KEYS: due, claims.
-- ARGV: latest time, how many, `1` to pass over claimed records.
-- Replies the earliest wake-up of the shard or "", then IDs and times by turns.

local due, claims = KEYS[1], KEYS[2]
local at, most, passes = ARGV[1], tonumber(ARGV[2]), ARGV[3] == "1"
local found = { redis.call("ZRANGE", due, 0, 0, "WITHSCORES")[2] or "" }
local offset, step = 0, most
while #found < 1 + 2 * most do
  local page = redis.call("ZRANGEBYSCORE", due, "-inf", at, "WITHSCORES", "LIMIT", offset, step)
  for i = 1, #page, 2 do
    local claimed = passes and redis.call("ZSCORE", claims, page[i])
    if #found < 1 + 2 * most and not (claimed and tonumber(claimed) > tonumber(at)) then
      found[#found + 1] = page[i]
      found[#found + 1] = page[i + 1]
    end
  end
  if #page < 2 * step then break end
  offset, step = offset + step, 100
end
return found
