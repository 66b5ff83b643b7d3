import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** What of Redis there is to test against. */
export type RedisEngine =
  /** A server of the user's own, shared with whatever else is in it. */
  | { readonly kind: "url"; readonly url: string }
  /** A program to start servers with. */
  | { readonly kind: "program"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

const programs = ["redis-server", "valkey-server"];
const places = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"];

const run = promisify(execFile);
const aptMs = 180_000;

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const findProgram = async (): Promise<string | undefined> => {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...places];
  for (const program of programs)
    for (const folder of folders) {
      const path = join(folder, program);
      if (folder !== "" && (await isProgram(path))) return path;
    }
  return undefined;
};

/** Installs Debian's package, where that needs no password. Returns why it could not be, or nothing. */
const installWithApt = async (): Promise<string | undefined> => {
  if (process.getuid?.() !== 0) return "and it is not installed without being root";
  if (!(await isProgram("/usr/bin/apt-get"))) return "and there is no apt-get to install it with";
  const options = { timeout: aptMs, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" } };
  try {
    await run("apt-get", ["update", "-qq"], options);
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "redis-server"], options);
    return undefined;
  } catch (error) {
    return `and apt-get could not install it: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
  }
};

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
  const path = await findProgram();
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
  const problem = await installWithApt();
  return problem === undefined ? findRedis() : { kind: "missing", reason: `${engine.reason}, ${problem}` };
};
