-- Each payload is a string of its own. `names` lists the payloads of a record except `input` and `output`.
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
