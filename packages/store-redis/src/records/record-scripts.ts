import type { TaskId } from "@taskbridge/core/store";
import type { Keys } from "../keys.ts";
import { type Script, script } from "../redis/redis-port.ts";

/** Keys of what lies in a record's own slot, in the order in which the scripts that write it take them. */
export const keysInSlot = (keys: Keys, taskId: TaskId): readonly string[] => {
  const { all, open, due, claims, aborted, removed } = keys.shardOf(taskId);
  return [keys.record(taskId), all, open, due, claims, aborted, keys.payloadNames(taskId), removed];
};

/** Epoch milliseconds by this server, but not before the caller's time: that of a caller who was held up lies behind. */
export const luaNow = `
local function serverTime()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function now(callers) return math.max(tonumber(callers), serverTime()) end
`;

/** Forgets attempts that were told to write nothing: none is under way for an hour. */
export const luaForget = `
local function forget(aborted, at) redis.call("ZREMRANGEBYSCORE", aborted, "-inf", at - 3600000) end
`;

/**
 * IDs that stay taken for a while after their task is removed, so that a create that was held up on its way does not bring it back. They
 * are cleared away in small steps, more at a time than one removal adds.
 */
export const luaRemoved = `
local function isRemoved(removed, id, at)
  local until_ = redis.call("ZSCORE", removed, id)
  return until_ and tonumber(until_) > at
end
local function forgetRemoved(removed, at, most)
  local lapsed = redis.call("ZRANGEBYSCORE", removed, "-inf", at, "LIMIT", 0, most)
  if #lapsed > 0 then redis.call("ZREM", removed, unpack(lapsed)) end
end
`;

/** See stored-record.ts. */
const luaHeader = `
local function readHeader(value)
  return string.match(value, "^(%d+) (%S+) (%S+) (%S) (%S+) ([^\\n]*)\\n")
end
`;

/** Payloads are strings of their own. Which ones there are is known but for those listed under `names`. */
const luaPayloads = `
local function isListed(name) return name ~= "input" and name ~= "output" end
local function drop(base, names, name)
  redis.call("UNLINK", base .. name)
  if isListed(name) then redis.call("HDEL", names, name) end
end
local function dropAll(base, names)
  redis.call("UNLINK", base .. "input", base .. "output")
  for _, name in ipairs(redis.call("HKEYS", names)) do redis.call("UNLINK", base .. name) end
  redis.call("DEL", names)
end
local function write(base, names, name, bytes)
  redis.call("SET", base .. name, bytes)
  if isListed(name) then redis.call("HSET", names, name, "") end
end
`;

/** Whether an ID is taken. KEYS: record, removed. ARGV: ID. Replies 1 or 0. */
export const isTakenScript: Script = script(`${luaNow}${luaRemoved}
local isTaken = redis.call("EXISTS", KEYS[1]) == 1 or isRemoved(KEYS[2], ARGV[1], serverTime())
return isTaken and 1 or 0
`);

/**
 * Writes a new record. KEYS: record, all, open, due, claims, aborted, payload names, removed. ARGV: ID, what the payloads' keys begin with,
 * the stored text, attempt, its deadline, entry, wakeAt or nothing, then name and bytes of each payload. Replies `created`, `taken`, or
 * `late` for an attempt whose time is up or that was told to write nothing.
 */
export const createScript: Script = script(`${luaNow}${luaRemoved}${luaHeader}${luaPayloads}
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
`);

/**
 * Replaces a record of the expected revision. KEYS: as for a new one. ARGV: ID, what the payloads' keys begin with, expected revision,
 * createdAt (sortable), slot, signature, `1` if the indexes have been entered, wakeAt or nothing, the record's JSON, `all` or
 * `some` to drop, how many names to drop, those, then name and bytes of each payload. Replies `missing`; `conflict` and the revision;
 * `index` and the stored text, when entries must be made first and nothing was written; or `done`, with the text of before where
 * entries are to be taken out.
 */
export const reviseScript: Script = script(`${luaHeader}${luaPayloads}
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
redis.call("SET", record, header .. "\\n" .. json)
local before, after = created .. id .. "\\0" .. attempt, newCreated .. id .. "\\0" .. attempt
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
`);

/**
 * Removes a record. KEYS: as for a new one. ARGV: ID, what the payloads' keys begin with, the attempt of the record whose unique keys
 * are being held, if any, for how long its ID stays taken (milliseconds), and the expected revision or nothing. Replies `missing`;
 * `conflict` and the revision; `keys` and the stored text, when its unique keys must be seen to first; or `done` and
 * the text of before.
 */
export const removeScript: Script = script(`${luaNow}${luaRemoved}${luaHeader}${luaPayloads}
local record, all, open, due, claims, aborted, names, removed = unpack(KEYS)
local id, base, held, takenForMs, expected = unpack(ARGV)
local value = redis.call("GET", record)
if not value then return { "missing" } end
local revision, attempt, created, _, _, keys = readHeader(value)
if expected ~= "" and revision ~= expected then return { "conflict", revision } end
if keys ~= "[]" and held ~= attempt then return { "keys", value } end
local entry = created .. id .. "\\0" .. attempt
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
`);

/**
 * Sees to it that an attempt writes nothing any more. KEYS: record, aborted. ARGV: attempt, the caller's time. Replies the stored
 * text when there is a record after all, be it this attempt's or another's.
 */
export const abortScript: Script = script(`${luaNow}${luaForget}
local value = redis.call("GET", KEYS[1])
if value then return value end
local at = now(ARGV[2])
forget(KEYS[2], at)
redis.call("ZADD", KEYS[2], at, ARGV[1])
return false
`);

/**
 * Writes a part of a payload. KEYS: record, the payload, payload names. ARGV: the payload's name, offset, bytes. Replies -2 without
 * the record, -1 when it has been written, else the payload's length, beyond which the offset lies.
 */
export const putPayloadScript: Script = script(`${luaPayloads}
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
`);

/** KEYS: the payload. ARGV: first and last byte. Replies length and bytes, or nothing where there is none. */
export const readPayloadScript: Script = script(`
if redis.call("EXISTS", KEYS[1]) == 0 then return false end
local first, last = tonumber(ARGV[1]), tonumber(ARGV[2])
local length = redis.call("STRLEN", KEYS[1])
return { length, first > last and "" or redis.call("GETRANGE", KEYS[1], ARGV[1], ARGV[2]) }
`);
