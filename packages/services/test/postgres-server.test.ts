import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "@jest/globals";
import { findPostgres } from "../src/find-postgres.ts";
import { type PostgresServer, startPostgres } from "../src/postgres-server.ts";

const engine = await findPostgres();
const programs = engine.kind === "programs" ? engine.folder : undefined;
const why = engine.kind === "url" ? "DATABASE_URL is set" : engine.kind === "missing" ? engine.reason : "";

const framed = (type: string, body: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(body) + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
};

/** The first column of a query's rows. Undefined when the connection ends without an answer. */
const ask = (port: number, sql: string): Promise<readonly string[] | undefined> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    const rows: string[] = [];
    let rest = Buffer.alloc(0);
    let isReady = false;
    socket.on("error", () => {});
    socket.on("close", () => resolve(undefined));
    socket.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const size = rest.readInt32BE(1) + 1;
        const type = String.fromCharCode(rest[0] ?? 0);
        if (type === "D") rows.push(rest.toString("utf8", 11, 11 + rest.readInt32BE(7)));
        if (type === "E") reject(new Error(rest.toString("utf8", 5, size)));
        rest = rest.subarray(size);
        if (type === "Z" && isReady) {
          resolve(rows);
          socket.destroy();
        } else if (type === "Z") {
          isReady = true;
          socket.write(framed("Q", `${sql}\0`));
        }
      }
    });
    socket.write(framed("", "\0\x03\0\0user\0postgres\0database\0postgres\0\0"));
  });

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const allProcesses =
  "SELECT pid FROM pg_stat_activity UNION SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int";

const suite = programs === undefined ? describe.skip : describe;
suite(`a PostgreSQL of one's own${programs === undefined ? ` (SKIPPED: ${why})` : ""}`, () => {
  const servers: PostgresServer[] = [];
  const start = async (): Promise<PostgresServer> => {
    const server = await startPostgres({ programs: programs ?? "" });
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });

  it("keeps its data over a kill, takes settings, and is gone once it is stopped", async () => {
    const server = await startPostgres({ programs: programs ?? "", durable: true, settings: { max_connections: "7" } });
    servers.push(server);
    expect(
      await ask(
        server.port,
        "SELECT setting FROM pg_settings WHERE name IN ('fsync', 'max_connections') ORDER BY name",
      ),
    ).toEqual(["on", "7"]);
    await ask(server.port, "CREATE TABLE kept (x int); INSERT INTO kept VALUES (42)");
    const pids = (await ask(server.port, allProcesses))?.map(Number) ?? [];
    expect(pids.length).toBeGreaterThan(4);
    await server.kill();
    expect(await ask(server.port, "SELECT 1")).toBeUndefined();
    expect(pids.filter(isRunning)).toEqual([]);
    await server.restart();
    expect(await ask(server.port, "SELECT x FROM kept")).toEqual(["42"]);
    await server.stop();
    expect(await ask(server.port, "SELECT 1")).toBeUndefined();
  });

  it("answers nothing while it is paused, not even those who are connected already", async () => {
    const server = await start();
    let answer: unknown = "none yet";
    await server.pause();
    const late = ask(server.port, "SELECT 7").then((rows) => {
      answer = rows;
    });
    // The system accepts the connection in its stead; what is looked for is an answer that comes too early.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answer).toBe("none yet");
    server.resume();
    await late;
    expect(answer).toEqual(["7"]);
  });

  it.each(["running", "paused"])("leaves nothing behind when who started it is killed, while %s", async (state) => {
    const script = fileURLToPath(new URL("fixtures/start-postgres.mjs", import.meta.url));
    const child = spawn(process.execPath, [script, programs ?? "", state], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const port = Number((await lines.next()).value);
    const pids = (await ask(port, allProcesses))?.map(Number) ?? [];
    expect(pids.filter(isRunning).length).toBeGreaterThan(4);
    child.stdin.write("go on\n");
    expect((await lines.next()).value).toBe("ready");
    child.kill("SIGKILL");
    await once(child, "close");
    const deadline = Date.now() + 20_000;
    while (pids.some(isRunning) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pids.filter(isRunning)).toEqual([]);
  });
});

if (programs === undefined && process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing") {
  it("has a PostgreSQL to test", () => {
    throw new Error(why);
  });
}
