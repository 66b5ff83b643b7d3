export { ensureRedis, findRedis, type RedisEngine } from "./find-redis.ts";
export { type RedisServer, type RedisServerOptions, startRedis } from "./redis-server.ts";
