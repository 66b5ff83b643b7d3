import { asTaskId, type TaskId, type UniqueKey } from "@taskbridge/core/store";
import type { Keys } from "../keys.ts";
import { type Command, script } from "../redis/redis-port.ts";
import type { Attempt } from "./attempt.ts";
import { luaNow } from "./record-scripts.ts";

/**
 * What is kept under a unique key: a line, then the ID of the task. `<state> <attempt> <until> <heldForMs> <held until>`, with `-`
 * for what is not there. States: `h` held, or about to be; `r` its record is being removed; `g` its record is gone.
 *
 * It carries no time to live: under memory pressure Redis may take what does, and with it the promise that an ID is used once.
 */
export interface KeyHolder {
  readonly state: "h" | "r" | "g";
  readonly attempt: Attempt;
  readonly until: number | undefined;
  /** Epoch milliseconds until which it outlives its record; undefined unless the record is removed. */
  readonly heldUntil: number | undefined;
  readonly taskId: TaskId;
}

/** Reads what is kept under a key. */
export const luaHolder = `
local function readHolder(text)
  return string.match(text, "^(%S) (%S+) (%S+) (%S+) (%S+)\\n(.*)$")
end
local function later(until_, heldUntil) return math.max(tonumber(until_) or 0, tonumber(heldUntil) or 0) end
-- Free whatever has become of the record. One without \`until\` whose record may be there is not.
local function hasLapsed(state, until_, heldUntil, at)
  return (until_ ~= "-" or state == "g") and later(until_, heldUntil) <= at
end
`;

/** Clears away some of what has lapsed. With `luaHolder`. */
export const luaPurge = `
local function purge(lapsing, at, most)
  for _, key in ipairs(redis.call("ZRANGEBYSCORE", lapsing, "-inf", at, "LIMIT", 0, most)) do
    local holder = redis.call("GET", key)
    if holder then
      local state, _, until_, _, heldUntil = readHolder(holder)
      if hasLapsed(state, until_, heldUntil, at) then redis.call("DEL", key) end
    end
    redis.call("ZREM", lapsing, key)
  end
end
`;

/**
 * Takes a key. KEYS: the key, lapsing. ARGV: what is to be kept, `until` or nothing, the caller's time. Replies nothing when it is
 * taken now, else what is kept.
 */
const takeScript = script(`${luaNow}${luaHolder}${luaPurge}
local at = now(ARGV[3])
-- More than one call can add.
purge(KEYS[2], at, 4)
local kept = redis.call("GET", KEYS[1])
if kept and kept ~= ARGV[1] then
  local state, _, until_, _, heldUntil = readHolder(kept)
  if not hasLapsed(state, until_, heldUntil, at) then return kept end
end
redis.call("SET", KEYS[1], ARGV[1])
if ARGV[2] == "" then redis.call("ZREM", KEYS[2], KEYS[1]) else redis.call("ZADD", KEYS[2], ARGV[2], KEYS[1]) end
return false
`);

/** Frees a key if it is still as it was seen. KEYS: the key, lapsing. ARGV: what was seen. */
const freeScript = script(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
redis.call("ZREM", KEYS[2], KEYS[1])
return 1
`);

/**
 * Goes with a record, in two steps around its removal. KEYS: the key, lapsing. ARGV: the record's attempt, `hold` before or `end`
 * after it, the caller's time. What has lapsed by then or has gone to another is left alone.
 */
const leaveScript = script(`${luaNow}${luaHolder}
local kept = redis.call("GET", KEYS[1])
if not kept then return 0 end
local state, attempt, until_, heldForMs, heldUntil, holder = readHolder(kept)
local at = now(ARGV[3])
if attempt ~= ARGV[1] or hasLapsed(state, until_, heldUntil, at) then return 0 end
if ARGV[2] == "hold" then
  state = "r"
  if heldForMs ~= "-" then heldUntil = string.format("%.0f", at + heldForMs) end
else
  state = "g"
  if later(until_, heldUntil) <= at then
    redis.call("DEL", KEYS[1])
    redis.call("ZREM", KEYS[2], KEYS[1])
    return 1
  end
end
-- A server that has no memory left lets a script write on that has taken something away: what is removed makes room.
redis.call("DEL", KEYS[1])
redis.call("SET", KEYS[1], table.concat({ state, attempt, until_, heldForMs, heldUntil }, " ") .. "\\n" .. holder)
if state == "g" then redis.call("ZADD", KEYS[2], later(until_, heldUntil), KEYS[1]) end
return 1
`);

const optional = (value: number | undefined): string => (value === undefined ? "-" : String(value));

/** What an attempt keeps under a key. */
export const toHolderText = ({ until, heldForMs }: UniqueKey, attempt: Attempt, taskId: TaskId): string =>
  `h ${attempt} ${optional(until)} ${optional(heldForMs)} -\n${taskId}`;

export const parseHolder = (text: string): KeyHolder => {
  const end = text.indexOf("\n");
  const [state, attempt = "", until, , heldUntil] = text.slice(0, end).split(" ");
  const instant = (part: string | undefined): number | undefined =>
    part === undefined || part === "-" ? undefined : Number(part);
  return {
    state: state === "r" || state === "g" ? state : "h",
    attempt,
    until: instant(until),
    heldUntil: instant(heldUntil),
    taskId: asTaskId(text.slice(end + 1)),
  };
};

export const takeKey = (keys: Keys, key: UniqueKey, text: string, now: number): Command => ({
  script: takeScript,
  keys: [keys.unique(key.key), keys.lapsing(key.key)],
  args: [text, key.until ?? "", now],
});

export const freeKey = (keys: Keys, key: string, seen: string): Command => ({
  script: freeScript,
  keys: [keys.unique(key), keys.lapsing(key)],
  args: [seen],
});

export const leaveKey = (keys: Keys, key: string, attempt: Attempt, step: "hold" | "end", now: number): Command => ({
  script: leaveScript,
  keys: [keys.unique(key), keys.lapsing(key)],
  args: [attempt, step, now],
});
