-- Reads several records.
-- KEYS: records.
-- Replies the stored text of each, or nothing.

local texts = {}
for i, record in ipairs(KEYS) do texts[i] = redis.call("GET", record) end
return texts
