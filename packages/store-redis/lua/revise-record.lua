-- Replaces a record of the expected revision.
-- KEYS: record, all, open, due, claims, aborted, payload names, removed.
-- ARGV: ID, prefix of the payloads' keys, expected revision, createdAt (sortable), slot, signature, `1` if the indexes have been
-- entered, wakeAt or "", JSON of the record, `all` or `some` payloads to drop, how many names to drop, those names, then name and
-- bytes of each payload to write.
-- Replies `missing`; `conflict` and the revision; `index` and the stored text, when index entries must be made first and nothing
-- was written; or `done`, with the text of before when index entries are to be removed.

--- @include "includes/header"
--- @include "includes/payloads"

local record, all, open, due, claims, aborted, names = unpack(KEYS)
local id, base, expected, newCreated, newSlot, newSignature, isEntered, wakeAt, json, dropping, dropped = unpack(ARGV, 1, 11)
local value = redis.call("GET", record)
if not value then return { "missing" } end
local revision, attempt, created, slot, signature, keys = readHeader(value)
if revision ~= expected then return { "conflict", revision } end
if signature ~= newSignature and isEntered ~= "1" then
  for at = 1, #newSignature, 6 do
    local part = string.sub(newSignature, at, at + 5)
    if part ~= "------" and part ~= string.sub(signature, at, at + 5) then return { "index", value } end
  end
end
local header = string.format("%.0f", expected + 1)
for _, part in ipairs({ attempt, newCreated, newSlot, newSignature, keys }) do header = header .. " " .. part end
redis.call("SET", record, header .. "\n" .. json)
local before, after = created .. id .. "\0" .. attempt, newCreated .. id .. "\0" .. attempt
if before ~= after then
  redis.call("ZREM", all, before)
  redis.call("ZADD", all, 0, after)
end
if before ~= after or slot ~= newSlot then
  redis.call("ZREM", open, before)
  if newSlot == "o" then redis.call("ZADD", open, 0, after) end
end
if wakeAt == "" then redis.call("ZREM", due, id) else redis.call("ZADD", due, wakeAt, id) end
redis.call("ZREM", claims, id)
local at = 12
if dropping == "all" then dropAll(base, names) end
for i = at, at + dropped - 1 do drop(base, names, ARGV[i]) end
for i = at + dropped, #ARGV, 2 do write(base, names, ARGV[i], ARGV[i + 1]) end
return signature == newSignature and { "done" } or { "done", value }
