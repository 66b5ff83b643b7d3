-- The IDs of removed tasks stay taken for a while, so that a delayed create does not bring a removed task back.
-- Each removal clears away a few lapsed IDs, more than it adds.
local function isRemoved(removed, id, at)
  local until_ = redis.call("ZSCORE", removed, id)
  return until_ and tonumber(until_) > at
end
local function forgetRemoved(removed, at, most)
  local lapsed = redis.call("ZRANGEBYSCORE", removed, "-inf", at, "LIMIT", 0, most)
  if #lapsed > 0 then redis.call("ZREM", removed, unpack(lapsed)) end
end
