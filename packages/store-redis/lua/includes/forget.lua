-- Forgets aborted attempts after an hour: no attempt is under way for so long.
local function forget(aborted, at) redis.call("ZREMRANGEBYSCORE", aborted, "-inf", at - 3600000) end
