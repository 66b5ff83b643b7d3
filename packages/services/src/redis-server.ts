import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, isFree } from "./free-port.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { untilItAnswers } from "./until-it-answers.ts";

const host = "127.0.0.1";
const startMs = 30_000;
/** Where nodes of a cluster talk to each other, above their own port; Redis 6 knows no other place. */
const busOffset = 10_000;

export interface RedisServerOptions {
  /** Path of `redis-server` or `valkey-server`. */
  readonly program: string;
  /** Keep data over a restart. Default false. */
  readonly appendOnly?: boolean;
  readonly password?: string;
  /** A node of a cluster, as yet by itself. */
  readonly clusterNode?: boolean;
  /** A Sentinel that decides alone, after a second, instead of a server. */
  readonly sentinelOf?: { readonly name: string; readonly host: string; readonly port: number };
  /** More of its flags: `["--maxmemory-policy", "allkeys-lru"]`. */
  readonly flags?: readonly string[];
}

/** A server of one's own on a free port, in a folder that goes with it. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** With the password, where there is one. */
  readonly url: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP: it takes connections and requests and answers none. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Starts it again after `kill`, or stops it hard and starts it again; same port, and same data with `appendOnly`. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Idempotent. */
  stop(): Promise<void>;
}

export const startRedis = async (options: RedisServerOptions): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-redis-"));
  const port = await (options.clusterNode === true ? freeNodePort() : freePort(host));
  let running: GuardedProcess | undefined;
  const start = async (): Promise<void> => {
    running = await launch(options, folder, port);
    await untilItAnswers("Redis", running.ended, startMs, () => answers(port, options.password));
  };
  const kill = async (): Promise<void> => {
    const ending = running;
    running = undefined;
    await ending?.kill();
  };
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const login = options.password === undefined ? "" : `:${encodeURIComponent(options.password)}@`;
  return {
    host,
    port,
    url: `redis://${login}${host}:${port}`,
    kill,
    stop,
    pause: () => running?.signal("SIGSTOP"),
    resume: () => running?.signal("SIGCONT"),
    restart: async () => {
      await kill();
      await start();
    },
  };
};

const launch = async (options: RedisServerOptions, folder: string, port: number): Promise<GuardedProcess> => {
  if (options.sentinelOf !== undefined) return launchSentinel(options.program, options.sentinelOf, folder, port);
  const flags = ["--port", String(port), "--bind", host, "--dir", folder, "--save", "", "--daemonize", "no"];
  const kept = ["--appendonly", options.appendOnly === true ? "yes" : "no"];
  const secret = options.password === undefined ? [] : ["--requirepass", options.password];
  const cluster = options.clusterNode === true ? ["--cluster-enabled", "yes"] : [];
  return startGuarded(options.program, [...flags, ...kept, ...secret, ...cluster, ...(options.flags ?? [])]);
};

/** It keeps what it finds out in its file of settings. */
const launchSentinel = async (
  program: string,
  of: NonNullable<RedisServerOptions["sentinelOf"]>,
  folder: string,
  port: number,
): Promise<GuardedProcess> => {
  const file = join(folder, "sentinel.conf");
  const settings = [
    `port ${port}`,
    `bind ${host}`,
    `dir ${folder}`,
    `sentinel monitor ${of.name} ${of.host} ${of.port} 1`,
    `sentinel down-after-milliseconds ${of.name} 1000`,
    `sentinel failover-timeout ${of.name} 5000`,
  ];
  await writeFile(file, `${settings.join("\n")}\n`);
  return startGuarded(program, [file, "--sentinel"]);
};

const freeNodePort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries++) {
    const port = await freePort(host);
    if (port + busOffset < 65_536 && (await isFree(host, port + busOffset))) return port;
  }
  throw new Error("no free port for a node of a cluster");
};

/** Whether it is there and has loaded its data. */
const answers = (port: number, password: string | undefined): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    let answer = "";
    socket.setTimeout(1_000, () => settle(false));
    socket.on("error", () => settle(false));
    socket.on("close", () => settle(false));
    socket.on("data", (chunk) => {
      answer += String(chunk);
      if (answer.includes("PONG")) settle(true);
      else if (answer.includes("LOADING")) settle(false);
    });
    socket.write(`${password === undefined ? "" : `AUTH ${password}\r\n`}PING\r\n`);
  });
