-- The time of the server.
-- KEYS: any key, so that one and the same node of a cluster answers.
-- Replies seconds and microseconds.

return redis.call("TIME")
