-- Epoch milliseconds by this server, but never before the caller's time: a caller that was held up lags behind.
local function serverTime()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function now(callers) return math.max(tonumber(callers), serverTime()) end
