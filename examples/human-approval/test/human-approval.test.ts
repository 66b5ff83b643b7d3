import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const example = fileURLToPath(new URL("..", import.meta.url));
let data: string;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "taskbridge-human-approval-"));
  server = spawn(process.execPath, ["dist/server.js"], {
    cwd: example,
    env: { ...process.env, PORT: "0", RELEASE_DATA: data },
    stdio: ["ignore", "pipe", "inherit"],
  });
  url = await servedUrl(server);
}, 30_000);
afterAll(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "close");
  }
  await rm(data, { recursive: true, force: true });
}, 30_000);

test("the client finds that nothing is published without approval, and so does the file", async () => {
  const { code, output } = await run({}, "dist/client.js", url);
  expect(output).toContain("2026-07-28: 1.0.0 is published, 1.1.0 and 1.2.0 are not");
  expect(output).toContain("2025-11-25: 1.0.0 is published, 1.1.0 and 1.2.0 are not");
  expect(output).toContain("Nothing was published that nobody approved.");
  expect(code).toBe(0);
  expect(await readFile(join(data, "published.log"), "utf8")).toBe("1.0.0\n1.0.0\n2.0.0\n");
}, 60_000);

test("a release that nobody is asked about waits, and is published once an operator has answered", async () => {
  const release = spawn(process.execPath, ["dist/release.js", url, "3.0.0"], {
    cwd: example,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: release.stdout })) {
    lines.push(line);
    const [, command] = /^ +taskbridge (tasks answer .+) --input/.exec(line) ?? [];
    if (command === undefined) continue;
    const answer = [...command.split(" "), "--input", '{"approved":true,"note":"by an operator"}'];
    const { code } = await run({}, "node_modules/taskbridge/dist/main.js", ...answer);
    expect(code).toBe(0);
  }
  expect(lines[0]).toContain("Publish version 3.0.0?");
  expect(lines.at(-1)).toBe('{"version":"3.0.0","published":true,"note":"by an operator"}');
}, 30_000);

test("a release that is stopped takes its task with it", async () => {
  const release = spawn(process.execPath, ["dist/release.js", url, "4.0.0"], {
    cwd: example,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: release.stdout })) {
    if (lines.push(line) === 1) release.kill("SIGTERM");
  }
  expect(lines.at(-1)).toBe("Cancelled: nothing is published.");
  expect(await readFile(join(data, "published.log"), "utf8")).not.toContain("4.0.0");
}, 30_000);

test("the client that is interrupted takes its open task with it", async () => {
  const file = join(data, "published.log");
  const published = existsSync(file) ? await readFile(file, "utf8") : "";
  const { code, output } = await interrupt(/^2025-11-25: /, {}, "dist/client.js", url);
  expect(output).toContain("Interrupted: what was open is cancelled.");
  expect(code).toBe(1);
  const listing = ["tasks", "list", "--url", url, "--wire", "2025-11-25", "--json"];
  const { tasks } = JSON.parse((await run({}, "node_modules/taskbridge/dist/main.js", ...listing)).output);
  const states = (tasks as readonly { state: string }[]).map(({ state }) => state);
  expect(states[0]).toBe("cancelled");
  expect(states.filter((state) => state === "running" || state === "waiting")).toEqual([]);
  expect(await readFile(file, "utf8")).toBe(`${published}1.0.0\n1.0.0\n`);
}, 60_000);

test("start that is interrupted waits for its client, and leaves nothing behind", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "taskbridge-human-approval-start-"));
  const { code, output } = await interrupt(/^2026-07-28: /, { TMPDIR: temporary }, "dist/start.js");
  expect(output).toContain("Interrupted: what was open is cancelled.");
  expect(code).toBe(1);
  expect(await readdir(temporary)).toEqual([]);
  await rm(temporary, { recursive: true });
}, 60_000);

test.each([
  ["when all is well", {}, 0],
  ["when the client finds a fault", { PATH: "/no-node-here" }, 1],
])(
  "start leaves nothing behind %s",
  async (_when, env, expected) => {
    const temporary = await mkdtemp(join(tmpdir(), "taskbridge-human-approval-start-"));
    const { code } = await run({ TMPDIR: temporary, ...env }, "dist/start.js");
    expect(code).toBe(expected);
    expect(await readdir(temporary)).toEqual([]);
    await rm(temporary, { recursive: true });
  },
  60_000,
);

test("the client fails when the server is not there", async () => {
  expect((await run({}, "dist/client.js", "http://127.0.0.1:1/mcp")).code).toBe(1);
}, 30_000);

async function servedUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the server's stdout is not read");
  for await (const line of createInterface({ input: stdout })) {
    const [found] = /http:\S+/.exec(line) ?? [];
    if (found === undefined) continue;
    stdout.resume();
    return found;
  }
  throw new Error("the server did not start");
}

/** Runs a program and presses Ctrl-C once it prints such a line: the terminal sends it to the whole process group. */
async function interrupt(
  at: RegExp,
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: example,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const closed = once(child, "close");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (at.test(line)) process.kill(-Number(child.pid), "SIGINT");
  }
  const [code] = await closed;
  return { code, output: lines.join("\n") };
}

/** Resolves when everything has ended that holds the stdout or stderr of what is run. */
async function run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: example,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 50_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}
