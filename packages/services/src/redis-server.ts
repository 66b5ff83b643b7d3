import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const host = "127.0.0.1";
const startMs = 10_000;
const pollMs = 10;

export interface RedisServerOptions {
  /** Path of `redis-server` or `valkey-server`. */
  readonly program: string;
  /** Keep data over a restart. Default false. */
  readonly appendOnly?: boolean;
  readonly password?: string;
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

interface Running {
  readonly guard: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<unknown>;
}

/** `cat` sees its input end when this process dies, however it does, so that no server is left behind. */
const guardScript = `"$@" >&2 & server=$!; echo "$server"; (cat >/dev/null; kill -KILL "$server" 2>/dev/null) <&3 & wait "$server"; exit 0`;

export const startRedis = async (options: RedisServerOptions): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-redis-"));
  const port = await freePort();
  let running: Running | undefined;
  const start = async (): Promise<void> => {
    running = await launch(options, folder, port);
    await untilItAnswers(port, running, options.password);
  };
  const kill = async (): Promise<void> => {
    const ending = running;
    running = undefined;
    if (ending === undefined) return;
    signal(ending.pid, "SIGKILL");
    ending.guard.stdio[3]?.destroy();
    await ending.ended;
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
    pause: () => running !== undefined && signal(running.pid, "SIGSTOP"),
    resume: () => running !== undefined && signal(running.pid, "SIGCONT"),
    restart: async () => {
      await kill();
      await start();
    },
  };
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
};

const freePort = async (): Promise<number> => {
  const probe = createServer().listen({ host, port: 0 });
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
};

const launch = async (options: RedisServerOptions, folder: string, port: number): Promise<Running> => {
  const flags = ["--port", String(port), "--bind", host, "--dir", folder, "--save", "", "--daemonize", "no"];
  const kept = ["--appendonly", options.appendOnly === true ? "yes" : "no"];
  const secret = options.password === undefined ? [] : ["--requirepass", options.password];
  const args = ["-c", guardScript, "sh", options.program, ...flags, ...kept, ...secret, ...(options.flags ?? [])];
  const guard = spawn("sh", args, { stdio: ["ignore", "pipe", "ignore", "pipe"] });
  const ended = once(guard, "close");
  if (guard.stdout === null) throw new Error("no output of the server to read");
  const [first] = await Promise.race([once(guard.stdout, "data"), ended]);
  const pid = Number.parseInt(String(first), 10);
  if (!(pid > 1)) throw new Error(`${options.program} could not be started`);
  return { guard, pid, ended };
};

const untilItAnswers = async (port: number, { ended }: Running, password: string | undefined): Promise<void> => {
  const deadline = Date.now() + startMs;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!(await answers(port, password))) {
    if (hasEnded) throw new Error("the Redis server ended as soon as it was started");
    if (Date.now() > deadline) throw new Error(`the Redis server did not answer within ${startMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
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
