import { findPrograms, isProgram } from "./find-program.ts";
import { installWithApt } from "./install-with-apt.ts";

/** What of Redis there is to test against. */
export type RedisEngine =
  /** A server of the user's own, shared with whatever else is in it. */
  | { readonly kind: "url"; readonly url: string }
  /** A program to start servers with. */
  | { readonly kind: "program"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

const programs = ["redis-server", "valkey-server"];

/**
 * `REDIS_URL` where it is set, else a program: the one that `TASKBRIDGE_REDIS_SERVER` names, one on the PATH, or the one
 * that `ensureRedis` has installed.
 */
export const findRedis = async (): Promise<RedisEngine> => {
  const { REDIS_URL: url, TASKBRIDGE_REDIS_SERVER: given } = process.env;
  if (url !== undefined && url !== "") return { kind: "url", url };
  if (given !== undefined && given !== "") {
    if (await isProgram(given)) return { kind: "program", path: given };
    return { kind: "missing", reason: `TASKBRIDGE_REDIS_SERVER is ${given}, which is no program` };
  }
  const [path] = await findPrograms(programs);
  return path === undefined
    ? { kind: "missing", reason: `no ${programs.join(" or ")} on the PATH` }
    : { kind: "program", path };
};

/**
 * Like `findRedis`, but installs it first where it is missing (as root, on Debian and its kin). For one process before the
 * tests: two at once would wait for each other's package lock.
 */
export const ensureRedis = async (): Promise<RedisEngine> => {
  const engine = await findRedis();
  if (engine.kind !== "missing" || process.env.TASKBRIDGE_REDIS_SERVER !== undefined) return engine;
  const problem = await installWithApt(["redis-server"]);
  return problem === undefined ? findRedis() : { kind: "missing", reason: `${engine.reason}, ${problem}` };
};
