-- Reads a page of each of several sets, from the last entry down. Finding the end by its bound costs more than starting there.
-- KEYS: sets.
-- ARGV: how many entries of each, then the upper bound for each set.
-- Replies the page of each set.

local pages = {}
for i, set in ipairs(KEYS) do
  local bound = ARGV[i + 1]
  pages[i] = bound == "+" and redis.call("ZREVRANGE", set, 0, ARGV[1] - 1)
    or redis.call("ZREVRANGEBYLEX", set, bound, "-", "LIMIT", 0, ARGV[1])
end
return pages
