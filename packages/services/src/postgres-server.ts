import { execFile } from "node:child_process";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { answersPostgres } from "./answers-postgres.ts";
import { childrenOf } from "./child-processes.ts";
import { freePort } from "./free-port.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { findUnprivilegedUser, type User } from "./unprivileged-user.ts";
import { untilItAnswers } from "./until-it-answers.ts";

const run = promisify(execFile);
const host = "127.0.0.1";
const startMs = 30_000;
const endMs = 5_000;

export interface PostgresServerOptions {
  /** Folder with `postgres` and `initdb`. */
  readonly programs: string;
  /** Sync every commit to the disk, as a real server does. Default false: several times faster, and a `kill` loses nothing either, only a power cut would. */
  readonly durable?: boolean;
  /** More of its settings: `{ max_connections: "20" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Start as a standby of that server, whose data are copied; `SELECT pg_promote()` makes it a primary. */
  readonly standbyOf?: Pick<PostgresServer, "host" | "port">;
  /** Lines of pg_hba.conf before the one that lets everybody in without a password. */
  readonly hba?: readonly string[];
}

/** A server of one's own on a free port, in a folder that goes with it. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  /** Of the database `postgres`, as its superuser of that name. */
  readonly url: string;
  /** SIGKILL, for each of its processes. */
  kill(): Promise<void>;
  /** SIGSTOP, for each of its processes: it takes connections and requests and answers none. */
  pause(): Promise<void>;
  /** SIGCONT, for each of its processes. */
  resume(): void;
  /** Starts it again after `kill`, or kills it and starts it again; same port, and same data. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Idempotent. */
  stop(): Promise<void>;
}

export const startPostgres = async (options: PostgresServerOptions): Promise<PostgresServer> => {
  const user = await findUnprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-postgres-"));
  const port = await freePort(host);
  let running: GuardedProcess | undefined;
  let stopped: readonly number[] = [];
  const start = async (): Promise<void> => {
    running = await launch(options, folder, port, user);
    await untilItAnswers("PostgreSQL", running.ended, startMs, () => answersPostgres(host, port));
  };
  const pause = async (): Promise<void> => {
    if (running === undefined) return;
    // The parent first, so that it has no further children.
    running.signal("SIGSTOP");
    stopped = await childrenOf(running.pid);
    running.guardAlso(stopped);
    signalAll(stopped, "SIGSTOP");
  };
  const resume = (): void => {
    running?.guardAlso([]);
    signalAll(stopped, "SIGCONT");
    stopped = [];
    running?.signal("SIGCONT");
  };
  const kill = async (): Promise<void> => {
    await pause();
    const killed = stopped;
    signalAll(killed, "SIGKILL");
    stopped = [];
    const ending = running;
    running = undefined;
    await ending?.kill();
    // They hold its shared memory, without which no other starts in its folder.
    const deadline = Date.now() + endMs;
    while (killed.some(isThere) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const stop = async (): Promise<void> => {
    if (running === undefined) await removeSharedMemory(folder);
    else {
      resume();
      // Ends all its processes without ado and gives back its shared memory.
      await running.kill("SIGQUIT");
      running = undefined;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await createCluster(options, folder, user);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host,
    port,
    url: `postgres://postgres@${host}:${port}/postgres`,
    kill,
    pause,
    resume,
    stop,
    restart: async () => {
      await kill();
      await start();
    },
  };
};

const dataOf = (folder: string): string => join(folder, "data");

const createCluster = async (options: PostgresServerOptions, folder: string, user: User | undefined): Promise<void> => {
  const { programs, standbyOf, hba = [] } = options;
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const runAsUser = (program: string, flags: readonly string[]) =>
    run(join(programs, program), ["--pgdata", dataOf(folder), "--no-sync", ...flags], { ...user, cwd: folder });
  if (standbyOf !== undefined) {
    const from = ["--host", standbyOf.host, "--port", String(standbyOf.port), "--username=postgres"];
    await runAsUser("pg_basebackup", [...from, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]);
    return;
  }
  await runAsUser("initdb", [
    "--auth=trust",
    "--username=postgres",
    "--encoding=UTF8",
    "--locale=C",
    "--wal-segsize=1",
  ]);
  const rules = join(dataOf(folder), "pg_hba.conf");
  await writeFile(rules, [...hba, await readFile(rules, "utf8")].join("\n"));
};

const launch = (
  { programs, durable = false, settings = {} }: PostgresServerOptions,
  folder: string,
  port: number,
  user: User | undefined,
): Promise<GuardedProcess> => {
  const all = {
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: "",
    // In its folder rather than in one that a kill leaves behind.
    dynamic_shared_memory_type: "mmap",
    fsync: durable ? "on" : "off",
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return startGuarded(join(programs, "postgres"), ["-D", dataOf(folder), ...flags], {
    user,
    cwd: folder,
    folder,
    lastSignal: "QUIT",
  });
};

const signalAll = (pids: readonly number[], name: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
};

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** What a killed server leaves: a few bytes by which the next one in its folder would know that nobody is left there. */
const removeSharedMemory = async (folder: string): Promise<void> => {
  const notes = await readFile(join(dataOf(folder), "postmaster.pid"), "utf8").catch(() => "");
  const id = notes.split("\n")[6]?.trim().split(/\s+/)[1];
  // Gone already, or a system without it: nothing is left.
  if (id !== undefined) await run("ipcrm", ["-m", id]).catch(() => undefined);
};
