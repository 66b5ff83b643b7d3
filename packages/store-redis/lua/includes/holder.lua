-- Parses the value of a unique key: state, attempt, until, heldForMs, held until, task ID. See unique-keys.ts.
local function readHolder(text)
  return string.match(text, "^(%S) (%S+) (%S+) (%S+) (%S+)\n(.*)$")
end
local function later(until_, heldUntil) return math.max(tonumber(until_) or 0, tonumber(heldUntil) or 0) end
-- Free whatever has become of the record. One without `until` whose record may be there is not.
local function hasLapsed(state, until_, heldUntil, at)
  return (until_ ~= "-" or state == "g") and later(until_, heldUntil) <= at
end
