import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { loadPipelines } from "../../src/config/load-pipelines.ts";
import { openConfig } from "../../src/config/open-config.ts";
import { requireBackends } from "../../src/config/require-backends.ts";
import { wire2025 } from "../raw-wire.ts";
import { configText, createWorkbench, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

/** The lines of a server's log that are no audit events. */
const reported = (stderr: string): readonly { readonly msg: string; readonly drainMs?: number }[] =>
  stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === undefined);

describe("serve", () => {
  test("--check says what there is, and does nothing", async () => {
    const outcome = await bench.run(["serve", "--check", "--config", "taskbridge.yaml"]);
    expect(outcome).toEqual({
      code: 0,
      stdout: "taskbridge.yaml: ok; tools: echo, text, large, fail, wait, ask; adapters: local\n",
      stderr: "",
    });
  });

  test.each([[["--check"]], [[]]])("a fault: exit code 2, with file, line and path (%j)", async (flags) => {
    writeFileSync(join(bench.folder, "bad.yaml"), configText.replace("directory:", "folder:"));
    const outcome = await bench.run(["serve", "--config", "bad.yaml", ...flags]);
    expect(outcome).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "bad.yaml:3: adapters.local.directory: missing\nbad.yaml:3: adapters.local.folder: unknown member; known here: use, directory, graceMs, maxOutputBytes\n",
    });
  });

  test("logs JSON to stderr and ends with 0 on SIGTERM", async () => {
    const server = await bench.serve();
    server.kill("SIGTERM");
    const { code, stdout, stderr } = await server.done;
    expect([code, stdout]).toEqual([0, ""]);
    expect(reported(stderr).map(({ msg }) => msg)).toEqual(["serving", "stopping: SIGTERM", "stopped"]);
  });

  const draining = (ms: number): string => {
    writeFileSync(join(bench.folder, "drain.yaml"), `server: { drainMs: ${ms} }\n${configText}`);
    return "drain.yaml";
  };

  // Without a terminal SIGINT comes from a supervisor, not from a person.
  test.each(["SIGTERM", "SIGINT"] as const)("drains on %s for as long as the configuration says", async (signal) => {
    const server = await bench.serveHere(["--port", "0", "--config", draining(200)]);
    server.kill(signal);
    const { code, stderr } = await server.done;
    const lines = reported(stderr);
    expect(lines.map(({ msg }) => msg)).toEqual(["serving", `stopping: ${signal}`, "draining", "stopped"]);
    expect([code, lines[2]?.drainMs]).toEqual([0, 200]);
  });

  test("says while it drains that it is not ready, and serves on; a second signal ends it at once", async () => {
    const server = await bench.serve(["--port", "0", "--config", draining(600_000)]);
    const probe = new URL("/readyz", server.url);
    expect((await fetch(probe)).status).toBe(200);
    server.kill("SIGTERM");
    await server.sees(/"msg":"draining"/);
    const answer = await fetch(probe);
    expect([answer.status, await answer.json()]).toMatchObject([503, { ready: false, draining: true }]);
    expect((await fetch(new URL("/healthz", server.url))).status).toBe(200);
    const called = await bench.run(["call", "echo", "--url", server.url, "--input", '{"text":"late"}', "--json"]);
    expect(called.code).toBe(0);
    server.kill("SIGTERM");
    const { code, stderr } = await server.done;
    expect([code, stderr.includes('"stopped"')]).toEqual([130, false]);
  });

  test("a second signal ends it at once", async () => {
    const adapter = fileURLToPath(new URL("../fixtures/interrupting-adapter.mjs", import.meta.url));
    writeFileSync(join(bench.folder, "held.yaml"), configText.replace("use: process", `use: ${adapter}`));
    const server = await bench.serve(["--port", "0", "--config", "held.yaml"]);
    server.kill("SIGTERM");
    const { code, stderr } = await server.done;
    expect(stderr).toContain("stopping: SIGTERM");
    expect(stderr).not.toContain("stopped");
    expect(code).toBe(130);
  });

  test("--check finds a template that is never replaced, and tokens that are not there", async () => {
    writeFileSync(join(bench.folder, "never.yaml"), configText.replace("{{input.file}}", "{{output.file}}"));
    writeFileSync(join(bench.folder, "absent.yaml"), `server: { auth: { tokens: ./nowhere.json } }\n${configText}`);
    const never = await bench.run(["serve", "--check", "--config", "never.yaml"]);
    const absent = await bench.run(["serve", "--check", "--config", "absent.yaml"]);
    expect([never.code, absent.code]).toEqual([2, 2]);
    expect(never.stderr).toBe(
      "never.yaml:9: tools[4].target.command[3]: {{output.file}}: only {{input.NAME}} is replaced\n",
    );
    expect(absent.stderr).toMatch(/^absent\.yaml:1: server\.auth\.tokens: .*nowhere\.json cannot be read: ENOENT\n$/);
  });

  const checking = (name: string, finds: string): string => {
    const adapter = fileURLToPath(new URL("../fixtures/checking-adapter.mjs", import.meta.url));
    const text = [
      "store: sqlite:./tasks.db",
      `adapters: { far: { use: ${adapter}, finds: ${finds} } }`,
      "tools:",
      "  - { name: one, adapter: far, target: { machine: one } }",
      "  - { name: two, adapter: far, target: { machine: two } }",
    ];
    writeFileSync(join(bench.folder, name), `${text.join("\n")}\n`);
    return name;
  };

  test.each([[["--check"]], [["--port", "0"]], [["--stdio"]]])(
    "what its backend says can never work is refused at boot, with line and path (%j)",
    async (flags) => {
      const config = checking(
        "misfit.yaml",
        '[{ level: error, path: "targets[1].machine", code: misconfigured, message: is an Express machine }, { level: error, path: "", code: misconfigured, message: is in another region }]',
      );
      expect(await bench.run(["serve", "--config", config, ...flags])).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "misfit.yaml:5: tools[1].target.machine: is an Express machine\nmisfit.yaml:2: adapters.far: is in another region\n",
      });
    },
  );

  const served = async (config: string): Promise<readonly { readonly level: string; readonly msg: string }[]> => {
    const server = await bench.serveHere(["--port", "0", "--config", config]);
    server.kill("SIGTERM");
    const { stderr } = await server.done;
    return stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  test("a pipeline that is not there yet is a warning, and the server starts", async () => {
    const config = checking("absent.yaml", '[{ level: error, path: "targets[0].machine", message: is not there }]');
    const checked = await bench.run(["serve", "--check", "--config", config]);
    expect(checked).toMatchObject({ code: 0, stderr: "warning: tools[0].target.machine: is not there\n" });
    expect((await served(config))[0]).toMatchObject({ level: "warn", msg: "tools[0].target.machine: is not there" });
  });

  test("a backend that does not answer is a warning, and keeps no server from starting", async () => {
    // `serve` waits for five seconds.
    const config = openConfig(checking("away.yaml", "nothing"));
    const warnings: string[] = [];
    await requireBackends(config, await loadPipelines(config), (message) => warnings.push(message), 20);
    expect(warnings).toEqual(["adapters.far: no answer within 20 ms"]);
  });

  test("a store that cannot be opened ends it, naming the store", async () => {
    writeFileSync(join(bench.folder, "away-store.yaml"), configText.replace("./tasks.db", "./nowhere/tasks.db"));
    const outcome = await bench.run(["serve", "--config", "away-store.yaml", "--port", "0"]);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toMatch(/^away-store\.yaml:1: store: .*nowhere.*\n$/);
  });

  test("a port that is taken is named, as the flag or the member that it was given by", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = String(typeof address === "object" ? address?.port : 0);
    const byFlag = await bench.run(["serve", "--config", bench.config, "--port", port]);
    writeFileSync(join(bench.folder, "port.yaml"), `${configText}server: { http: { port: ${port} } }\n`);
    const byFile = await bench.run(["serve", "--config", "port.yaml"]);
    taken.close();
    const said = `127.0.0.1:${port} is in use by another program; choose another`;
    expect(byFlag).toEqual({ code: 2, stdout: "", stderr: `--port: ${said}\n` });
    expect(byFile).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^port\.yaml:\d+: server\.http\.port: /),
    });
    expect(byFile.stderr).toContain(`${said} here or with --port\n`);
  });

  test("a public address without auth is refused, naming the flag or the member", async () => {
    const byFlag = await bench.run(["serve", "--config", "taskbridge.yaml", "--host", "0.0.0.0", "--port", "0"]);
    expect(byFlag.code).toBe(2);
    expect(byFlag.stderr).toMatch(/^--host: others can reach 0\.0\.0\.0/);
    writeFileSync(join(bench.folder, "host.yaml"), `server: { http: { host: 0.0.0.0 } }\n${configText}`);
    const byFile = await bench.run(["serve", "--config", "host.yaml", "--port", "0"]);
    expect(byFile.code).toBe(2);
    expect(byFile.stderr).toMatch(/^host\.yaml:1: server\.http\.host: others can reach 0\.0\.0\.0/);
  });

  test("a host that this machine does not have is a fault of the flag", async () => {
    const outcome = await bench.run(["serve", "--config", bench.config, "--host", "::1%nowhere", "--port", "0"]);
    expect(outcome).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^--host: /) });
  });

  test("a tool with the name of a companion is refused, naming it; without companions it is served", async () => {
    const taken = configText.replace("name: echo", "name: task_status");
    writeFileSync(join(bench.folder, "taken.yaml"), taken);
    const outcome = await bench.run(["serve", "--config", "taken.yaml", "--port", "0"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^taken\.yaml:\d+: tools\[0\]\.name: "task_status" .* set companions to never\n$/);
    writeFileSync(join(bench.folder, "never.yaml"), `server: { companions: never }\n${taken}`);
    const { url } = await bench.serveHere(["--port", "0", "--config", "never.yaml"]);
    const { result } = await (await wire2025(url)).request("tools/list", {});
    const names = ["task_status", "text", "large", "fail", "wait", "ask"];
    expect(result).toMatchObject({ tools: names.map((name) => ({ name })) });
  });

  test("tokens that cannot be read are refused, naming the member", async () => {
    writeFileSync(join(bench.folder, "auth.yaml"), `server:\n  auth: { tokens: ./nowhere.json }\n${configText}`);
    const outcome = await bench.run(["serve", "--config", "auth.yaml", "--port", "0"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^auth\.yaml:2: server\.auth\.tokens: .*nowhere\.json cannot be read: ENOENT\n$/);
  });

  test("--stdio speaks MCP to an official client and ends with it", async () => {
    const cli = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [cli, "serve", "--config", bench.config, "--stdio"],
      stderr: "pipe",
    });
    const logged: string[] = [];
    transport.stderr?.on("data", (chunk) => logged.push(String(chunk)));
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["echo", "text", "large", "fail", "wait", "ask"],
      ...["task_status", "task_result", "task_cancel"],
    ]);
    const result = await client.callTool({ name: "echo", arguments: { text: "over stdio" } });
    expect(result.content).toEqual([{ type: "text", text: '{"text":"over stdio"}' }]);
    await client.close();
    expect(logged.join("")).toContain("serving on stdio");
  });
});

describe("the program", () => {
  test("--version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await bench.runSpawned(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--help goes to stdout, no command at all to stderr", async () => {
    const [help, nothing] = await Promise.all([bench.run(["--help"]), bench.run([])]);
    expect(help.code).toBe(0);
    for (const command of ["serve", "call", "tasks", "doctor", "init"]) expect(help.stdout).toContain(`  ${command} `);
    expect(nothing).toMatchObject({ code: 2, stdout: "" });
  });

  test("a misspelled command is answered with the right one", async () => {
    const outcome = await bench.run(["srve"]);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("Did you mean serve?");
  });
});

test("what was put in for ${…} is hidden in what a command says", async () => {
  writeFileSync(join(bench.folder, "secret.yaml"), configText.replace("./tasks.db", "${SECRET_PLACE}/tasks.db"));
  process.env["SECRET_PLACE"] = "/nowhere/hush-hush";
  const outcome = await bench.run(["tasks", "list", "--config", "secret.yaml"]);
  expect(outcome).toMatchObject({ code: 2, stdout: "" });
  expect(outcome.stderr).toContain("secret.yaml:1: store: ");
  expect(outcome.stderr).toContain("${SECRET_PLACE}");
  expect(outcome.stderr).not.toContain("hush");
});
