-- Removes a record.
-- KEYS: record, all, open, due, claims, aborted, payload names, removed.
-- ARGV: ID, prefix of the payloads' keys, attempt of the record whose unique keys are being held or "", for how long the ID stays
-- taken (milliseconds), expected revision or "".
-- Replies `missing`; `conflict` and the revision; `keys` and the stored text, when the unique keys must be held first; or `done`
-- and the text of before.

--- @include "includes/now"
--- @include "includes/removed"
--- @include "includes/header"
--- @include "includes/payloads"

local record, all, open, due, claims, aborted, names, removed = unpack(KEYS)
local id, base, held, takenForMs, expected = unpack(ARGV)
local value = redis.call("GET", record)
if not value then return { "missing" } end
local revision, attempt, created, _, _, keys = readHeader(value)
if expected ~= "" and revision ~= expected then return { "conflict", revision } end
if keys ~= "[]" and held ~= attempt then return { "keys", value } end
local entry = created .. id .. "\0" .. attempt
redis.call("DEL", record)
redis.call("ZREM", all, entry)
redis.call("ZREM", open, entry)
redis.call("ZREM", due, id)
redis.call("ZREM", claims, id)
dropAll(base, names)
-- Last: a server that has no memory left lets a script write on that has taken something away.
local at = serverTime()
redis.call("ZADD", removed, at + takenForMs, id)
forgetRemoved(removed, at, 4)
return { "done", value }
