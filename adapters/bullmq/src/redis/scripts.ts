/**
 * What we ask of Redis beside BullMQ's own operations. Fields and states are those of BullMQ 6, and ours begin with `tb:`, which
 * BullMQ leaves alone:
 *
 * - `tb:cancel`: why the job is to stop. The worker helper looks for it.
 * - `tb:gone`: why the job was removed. The hash that holds it is all that is left, in no state: BullMQ takes it for the
 *   job and adds no second one under this ID, however late a repeated start arrives.
 * - `<prefix>:<queue>:tb:cancelling`: a hash of its own, for the moment between a removal and that. Whoever looks in that
 *   moment does it: the cancel may have been broken off, and whoever has seen its task end repeats it no more.
 * - `tb:question`, `tb:asking`: what the worker helper asks (JSON), and that question's ID. Earlier versions kept it in the
 *   job's progress.
 * - `tb:answer:<question>`, `tb:answered`: an answer, and the question that was answered last.
 */

/** In a script with `prefix` and `call`: leaves word of a job that was removed, under its own ID. */
const leaveWord = `
local function leaveWord(id, key, reason, now)
  call("HSET", key, "name", "cancelled", "data", "{}", "opts", "{}", "timestamp", now, "tb:gone", reason)
  call("HDEL", prefix .. "tb:cancelling", id)
end
`;

/**
 * Many jobs of one queue at once. The state is asked of sets and of the lock first: looking a job up in a list takes longer the
 * longer the list is. What is in none of them waits, unless it is in no list either (`unlisted`): the lists were emptied or lost
 * and left the job's hash behind, so that no worker will ever come to it. That is looked for at each read, since one that
 * tells `waiting` in between would begin the engine's count anew; and only in lists of 1,000 jobs together, which adds less than a
 * millisecond to a read of a hundred: behind a longer backlog such a job is found out when that has shrunk. The first five are searched
 * for one by one, for more the lists are read once.
 *
 * KEYS: the queue's `meta`. ARGV: the prefix of its keys, the most bytes of a text, then for each job its ID and `1` for detail (log,
 * children) or `0`. Replies whether the queue is there, whether it is paused, and a list for each job that alternates the names of
 * `JobRow`'s members and what is known of them.
 */
const readJobs = `
-- BullMQ scores delayed jobs by (time * 0x1000), and a counter that keeps their order:
-- https://github.com/taskforcesh/bullmq/blob/master/src/commands/includes/getDelayedScore.lua
local stepsOfScore = 4096
local mostChildren, longList = 100, 1000
local prefix, most = ARGV[1], tonumber(ARGV[2])
local call = redis.call
local function value(key, field)
  local length = call("HSTRLEN", key, field)
  if length == 0 or length > most then return false, length end
  return call("HGET", key, field), length
end
local lists, backlog, searches, listed = { "wait", "paused", "active" }, false, 0, false
local function isListed(id)
  if not backlog then
    backlog = 0
    for _, list in ipairs(lists) do backlog = backlog + call("LLEN", prefix .. list) end
  end
  if backlog > longList then return true end
  searches = searches + 1
  if searches <= 5 then
    for _, list in ipairs(lists) do
      if call("LPOS", prefix .. list, id) then return true end
    end
    return false
  end
  if not listed then
    listed = {}
    for _, list in ipairs(lists) do
      for _, each in ipairs(call("LRANGE", prefix .. list, 0, -1)) do listed[each] = true end
    end
  end
  return listed[id] == true
end
local function stateOf(id, key, taken)
  if call("ZSCORE", prefix .. "completed", id) then return "completed" end
  if call("ZSCORE", prefix .. "failed", id) then return "failed" end
  local score = call("ZSCORE", prefix .. "delayed", id)
  if score then
    if type(score) == "table" then score = score.double end
    return "delayed", string.format("%.0f", math.floor(tonumber(score) / stepsOfScore))
  end
  if call("EXISTS", key .. ":lock") == 1 then return "active" end
  if call("ZSCORE", prefix .. "prioritized", id) then return "waiting" end
  if call("ZSCORE", prefix .. "waiting-children", id) then return "waiting-children" end
  if taken and call("LPOS", prefix .. "active", id) then return "active" end
  return isListed(id) and "waiting" or "unlisted"
end
${leaveWord}local rows, row = {}, nil
local function emit(name, value)
  if not value then return end
  row[#row + 1] = name
  row[#row + 1] = value
end
for i = 3, #ARGV, 2 do
  local id, detail = ARGV[i], ARGV[i + 1] == "1"
  local key = prefix .. id
  if call("EXISTS", key) == 0 then
    local reason = call("HGET", prefix .. "tb:cancelling", id)
    if reason then leaveWord(id, key, reason, call("TIME")[1] .. "000") end
    rows[#rows + 1] = { "state", reason and "gone" or "missing", "goneReason", reason }
  else
    row = {}
    -- Of BullMQ's: "atm" counts the attempts made, "ats" those that were started.
    local name, opts, processedOn, finishedOn, made, started, failure, cancel, gone, answered = unpack(call("HMGET", key,
      "name", "opts", "processedOn", "finishedOn", "atm", "ats", "failedReason", "tb:cancel", "tb:gone", "tb:answered"))
    local state, due = "gone", false
    if not gone then state, due = stateOf(id, key, started) end
    emit("state", state)
    emit("goneReason", gone)
    emit("dueAt", due)
    emit("name", name)
    emit("opts", opts)
    emit("processedOn", processedOn)
    emit("finishedOn", finishedOn)
    emit("attemptsMade", made)
    emit("failedReason", failure and string.sub(failure, 1, most))
    emit("cancelReason", cancel)
    emit("answered", answered)
    emit("question", (value(key, "tb:question")))
    local progress, size = value(key, "progress")
    if not progress and size > 0 then progress = string.format('"progress of %d bytes, too large to be shown"', size) end
    emit("progress", progress)
    if state == "failed" then emit("stacktrace", (value(key, "stacktrace"))) end
    if state == "completed" then
      local result, bytes = value(key, "returnvalue")
      emit("returnvalue", result)
      emit("returnBytes", bytes)
    end
    if detail or state == "waiting-children" then
      local done = call("HLEN", key .. ":processed")
      local failed = call("HLEN", key .. ":failed") + call("ZCARD", key .. ":unsuccessful")
      local pending = call("SCARD", key .. ":dependencies")
      emit("childrenDone", done)
      emit("childrenFailed", failed)
      emit("childrenPending", pending)
      if detail and done + failed + pending <= mostChildren then
        local children = {}
        for _, list in ipairs({ call("HKEYS", key .. ":processed"), call("HKEYS", key .. ":failed"),
          call("ZRANGE", key .. ":unsuccessful", 0, -1), call("SMEMBERS", key .. ":dependencies") }) do
          for _, child in ipairs(list) do children[#children + 1] = child end
        end
        emit("childKeys", children)
      end
    end
    rows[#rows + 1] = row
  end
end
return { call("EXISTS", KEYS[1]), call("HEXISTS", KEYS[1], "paused"), rows }
`;

/**
 * Says that a job is to stop. One that no worker has is taken out of its list, so that none can have it any more; BullMQ's own
 * removal, which would take a job that has meanwhile ended as well, clears up after that. Of a job that is gone word is
 * left, when it is ours.
 *
 * KEYS: the job, the queue's `tb:cancelling`. ARGV: the prefix of its keys, the job's ID, why, `1` for a job of ours, the time. Replies
 * what `QueuePort.markCancelled` tells, and the keys of the job's unfinished children.
 */
const markCancelled = `
local key, cancelling, prefix, id, reason, isOurs, now = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4] == "1", ARGV[5]
local call = redis.call
${leaveWord}if call("EXISTS", key) == 0 then
  if isOurs then leaveWord(id, key, reason, now) end
  return { "gone", {} }
end
if call("HEXISTS", key, "tb:gone") == 1 then return { "gone", {} } end
if call("ZSCORE", prefix .. "completed", id) or call("ZSCORE", prefix .. "failed", id) then
  call("HDEL", cancelling, id)
  return { "ended", {} }
end
call("HSET", key, "tb:cancel", reason)
local children = call("SMEMBERS", key .. ":dependencies")
if call("EXISTS", key .. ":lock") == 1 then
  call("HDEL", cancelling, id)
  return { "held", children }
end
local taken = call("ZREM", prefix .. "delayed", id) + call("ZREM", prefix .. "prioritized", id)
  + call("ZREM", prefix .. "waiting-children", id)
if taken == 0 then taken = call("LREM", prefix .. "wait", 1, id) + call("LREM", prefix .. "paused", 1, id) end
if taken == 0 and call("LPOS", prefix .. "active", id) then return { "held", children } end
-- Delayed until the last time that there is: BullMQ's removal looks there first, and through the lists last, each as long as it is.
call("ZADD", prefix .. "delayed", 2 ^ 53, id)
if isOurs then call("HSET", cancelling, id, reason) end
return { "free", children }
`;

/**
 * Keeps an answer if the job still waits for it: then no worker can have taken the job before it could see the answer.
 *
 * KEYS: the job, the queue's `delayed`. ARGV: the IDs of job, question and answer, and the answer (JSON). Replies what
 * `QueuePort.storeAnswer` tells.
 */
const storeAnswer = `
local key, delayed, id, question, answerId, answer = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call = redis.call
if call("EXISTS", key) == 0 then return "missing" end
local isDelayed = call("ZSCORE", delayed, id)
local asked = call("HGET", key, "tb:asking")
if not asked then
  local isAsked, inProgress = pcall(function() return cjson.decode(call("HGET", key, "progress")).question.id end)
  asked = isAsked and inProgress
end
local isOpen = isDelayed and asked == question
local given = call("HGET", key, "tb:answer:" .. question)
if given then
  if cjson.decode(given).answerId ~= answerId then return "taken" end
  return isOpen and "stored" or "delivered"
end
if not isOpen then return "closed" end
call("HSET", key, "tb:answer:" .. question, answer, "tb:answered", question)
return "stored"
`;

/** A part of a result, with its whole size. KEYS: the job. ARGV: offset and length (bytes). Replies nothing when there is no result. */
const readResult = `
if redis.call("HEXISTS", KEYS[1], "returnvalue") == 0 then return false end
local value = redis.call("HGET", KEYS[1], "returnvalue")
return { #value, string.sub(value, ARGV[1] + 1, ARGV[1] + ARGV[2]) }
`;

/** ID of the newest event that ever was in the stream, without that event, which may be large. KEYS: the stream. */
const lastEventId = `
if redis.call("EXISTS", KEYS[1]) == 0 then return false end
local facts = redis.call("XINFO", "STREAM", KEYS[1])
for i = 1, #facts, 2 do
  if facts[i] == "last-generated-id" then return facts[i + 1] end
end
return false
`;

type Script = Readonly<{ numberOfKeys: number; lua: string }>;

export const scripts: Readonly<{
  taskbridgeReadJobs: Script;
  taskbridgeMarkCancelled: Script;
  taskbridgeStoreAnswer: Script;
  taskbridgeReadResult: Script;
  taskbridgeLastEventId: Script;
}> = {
  taskbridgeReadJobs: { numberOfKeys: 1, lua: readJobs },
  taskbridgeMarkCancelled: { numberOfKeys: 2, lua: markCancelled },
  taskbridgeStoreAnswer: { numberOfKeys: 2, lua: storeAnswer },
  taskbridgeReadResult: { numberOfKeys: 1, lua: readResult },
  taskbridgeLastEventId: { numberOfKeys: 1, lua: lastEventId },
};
