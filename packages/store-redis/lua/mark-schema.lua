-- Replaces the schema marker if it is still the expected one.
-- KEYS: marker.
-- ARGV: expected marker or "", new marker.
-- Replies the marker that stands now.

local kept = redis.call("GET", KEYS[1])
if (kept or "") ~= ARGV[1] then return kept end
redis.call("SET", KEYS[1], ARGV[2])
return ARGV[2]
