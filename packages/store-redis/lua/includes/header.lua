-- Parses the header of a stored record: revision, attempt, createdAt, slot, signature, unique keys. See stored-record.ts.
local function readHeader(value)
  return string.match(value, "^(%d+) (%S+) (%S+) (%S) (%S+) ([^\n]*)\n")
end
