-- Writes a part of a payload.
-- KEYS: record, payload, payload names.
-- ARGV: name of the payload, offset, bytes.
-- Replies -2 when there is no record; -1 when the part was written; else the length of the payload, which the offset exceeds.

--- @include "includes/payloads"

local record, payload, names = unpack(KEYS)
local name, offset, bytes = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if redis.call("EXISTS", record) == 0 then return -2 end
if offset == 0 then
  redis.call("SET", payload, bytes)
  if isListed(name) then redis.call("HSET", names, name, "") end
  return -1
end
local length = redis.call("STRLEN", payload)
if offset > length then return length end
if #bytes > 0 then redis.call("SETRANGE", payload, offset, bytes) end
return -1
