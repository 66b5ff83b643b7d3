-- Reads a part of a payload.
-- KEYS: payload.
-- ARGV: first and last byte.
-- Replies the length of the payload and the bytes, or nothing when there is no payload.

if redis.call("EXISTS", KEYS[1]) == 0 then return false end
local first, last = tonumber(ARGV[1]), tonumber(ARGV[2])
local length = redis.call("STRLEN", KEYS[1])
return { length, first > last and "" or redis.call("GETRANGE", KEYS[1], ARGV[1], ARGV[2]) }
