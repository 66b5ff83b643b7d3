-- Writes a new record.
-- KEYS: record, all, open, due, claims, aborted, payload names, removed.
-- ARGV: ID, prefix of the payloads' keys, stored text, attempt, deadline of the attempt, index entry, wakeAt or "", then name and
-- bytes of each payload.
-- Replies `created`; `taken`; or `late` for an attempt after its deadline or one that was aborted.

--- @include "includes/now"
--- @include "includes/removed"
--- @include "includes/header"
--- @include "includes/payloads"

local record, all, open, due, claims, aborted, names, removed = unpack(KEYS)
local id, base, text, attempt, deadline, entry, wakeAt = unpack(ARGV, 1, 7)
local existing = redis.call("GET", record)
if existing then
  local _, holder = readHeader(existing)
  return holder == attempt and "created" or "taken"
end
if isRemoved(removed, id, serverTime()) then return "taken" end
if serverTime() > tonumber(deadline) or redis.call("ZSCORE", aborted, attempt) then return "late" end
redis.call("SET", record, text)
local _, _, _, slot = readHeader(text)
redis.call("ZADD", all, 0, entry)
if slot == "o" then redis.call("ZADD", open, 0, entry) end
if wakeAt ~= "" then redis.call("ZADD", due, wakeAt, id) end
for i = 8, #ARGV, 2 do write(base, names, ARGV[i], ARGV[i + 1]) end
return "created"
