import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { StartKey } from "@taskbridge/core/adapter";
import { toRef } from "../src/execution-ref.ts";
import type { ProcessTarget } from "../src/parse-target.ts";
import { context, type JobBench, jobBench, newKey, until } from "./job-bench.ts";

const starter = fileURLToPath(new URL("./fixtures/starter.mjs", import.meta.url));
let bench: JobBench;
let key: StartKey;

beforeEach(() => {
  bench = jobBench();
  key = newKey();
});
afterEach(() => bench.close());

interface Death {
  readonly dieAt?: "claimed" | "launched" | "started";
  readonly supervisorDiesAt?: string;
}

/** Starts the job from a server of its own; what that printed, or the signal that ended it. */
const startElsewhere = async (target: ProcessTarget, death: Death = {}): Promise<string> => {
  const request = { key, target, input: "{}", attempt: 1 };
  const options = { directory: bench.directory, baseDirectory: dirname(bench.directory) };
  const child = spawn(process.execPath, [starter, JSON.stringify({ options, request, ...death })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return signal ?? printed;
};

describe("a start", () => {
  it.each(["claimed", "launched", "started"] as const)(
    "whose server dies when it has %s runs once when it is repeated",
    async (dieAt) => {
      const target = bench.counted("sleep 0.2");
      expect(await startElsewhere(target, { dieAt })).toBe("SIGKILL");
      const { ref } = await bench.start(target, { key });
      expect(ref).toBe(toRef(key));
      expect((await bench.ended(ref)).status).toBe("succeeded");
      expect(bench.runs()).toBe(1);
    },
  );

  it("whose supervisor dies before it may have spawned anything is unavailable, and runs once when it is repeated", async () => {
    const target = bench.counted("");
    expect(await startElsewhere(target, { supervisorDiesAt: "claimed" })).toBe("unavailable");
    expect(await bench.notFound(toRef(key))).toEqual({ proven: false, reason: expect.stringContaining("interrupted") });
    await bench.ended((await bench.start(target, { key })).ref);
    expect(bench.runs()).toBe(1);
  });

  it.each(["marked", "spawned"])(
    "whose supervisor dies when it has %s is lost, and never run again",
    async (supervisorDiesAt) => {
      const target = bench.counted("");
      expect(await startElsewhere(target, { supervisorDiesAt })).toBe(toRef(key));
      const { ref, snapshot } = await bench.start(target, { key });
      expect(snapshot).toBeUndefined();
      expect(await bench.notFound(ref)).toEqual({
        proven: true,
        reason: "its supervisor was killed as it started the command",
      });
      expect(bench.runs()).toBeLessThanOrEqual(1);
    },
  );

  it("from four servers at once runs once", async () => {
    const target = bench.counted("sleep 0.5");
    const refs = await Promise.all([1, 2, 3, 4].map(() => startElsewhere(target)));
    expect(new Set(refs)).toEqual(new Set([toRef(key)]));
    await bench.ended(toRef(key));
    expect(bench.runs()).toBe(1);
  });

  it("runs once when a second supervisor is sent while the first is on its way", async () => {
    const target = bench.counted("sleep 0.5");
    await startElsewhere(target, { dieAt: "launched" });
    const refs = await Promise.all([startElsewhere(target), startElsewhere(target), bench.start(target, { key })]);
    expect(refs[0]).toBe(refs[2].ref);
    await bench.ended(toRef(key));
    expect(bench.runs()).toBe(1);
  });

  it("conflicts with another target or another input under its key", async () => {
    await bench.start(bench.sh("true"), { key });
    await expect(bench.start(bench.sh("false"), { key })).rejects.toMatchObject({ code: "conflict" });
    await expect(bench.start(bench.sh("true"), { key, input: '{"n":1}' })).rejects.toMatchObject({ code: "conflict" });
  });

  it("does not outlive its signal", async () => {
    const aborted = bench.adapter.start(
      { key, target: bench.counted(""), input: "{}", attempt: 1 },
      context(AbortSignal.abort()),
    );
    await expect(aborted).rejects.toMatchObject({ code: "unavailable", notSent: true });
    expect(existsSync(bench.directory) && readdirSync(bench.directory).includes(key)).toBe(false);
  });
});

describe("a command that cannot be started", () => {
  const file = (name: string, content: string, mode: number): string => {
    const path = join(dirname(bench.directory), name);
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  };

  it.each([
    ["nowhere on the PATH", () => ["no-such-program"], "misconfigured", "command[0]", "on its PATH"],
    ["nowhere", () => ["/no/such/program"], "misconfigured", "command[0]", "ENOENT"],
    ["without permission", () => [file("data", "x", 0o644)], "misconfigured", "command[0]", "EACCES"],
    ["a folder", () => [dirname(bench.directory)], "misconfigured", "command[0]", "EACCES"],
    [
      "a script of a missing interpreter",
      () => [file("script", "#!/no/such/interpreter\n", 0o755)],
      "misconfigured",
      "command[0]",
      "interpreter",
    ],
    ["too long", () => ["true", "x".repeat(3_000_000)], "invalid_input", "command", "E2BIG"],
  ] as const)("(%s) is refused, and refused again", async (_, command, code, path, words) => {
    const target = { command: command() };
    const refusal = { code, notSent: true, data: { path }, message: expect.stringContaining(words) };
    await expect(bench.start(target, { key })).rejects.toMatchObject(refusal);
    await expect(bench.start(target, { key })).rejects.toMatchObject(refusal);
    const find = { key, target, firstSentAt: Date.now() };
    expect(await bench.adapter.find(find, context())).toBeUndefined();
  });

  it("is refused with the folder it should run in, and keeps no input", async () => {
    const target = { command: ["true"], cwd: "no-such-folder" };
    const start = bench.start(target, { key, input: '{"password":"hunter2"}' });
    const message = 'cwd: no folder "no-such-folder"';
    await expect(start).rejects.toMatchObject({ code: "misconfigured", message, data: { path: "cwd" } });
    expect(readdirSync(join(bench.directory, key))).not.toContain("input.json");
  });
});

describe("a job", () => {
  it("has its input as one line, its folder, and no environment but its own", async () => {
    process.env.TASKBRIDGE_TEST_SECRET = "hunter2";
    mkdirSync(join(dirname(bench.directory), "here"));
    const { ref } = await bench.start(
      {
        command: [
          "sh",
          "-c",
          'cat /dev/null > /dev/stderr; read -r line; printf "%s\\n" "$line"; pwd; env | cut -d= -f1 | sort',
        ],
        cwd: "here",
        env: { MINE: "1" },
      },
      { input: '{\n  "a": "b\\n"\n}' },
    );
    const { output } = await bench.ended(ref);
    delete process.env.TASKBRIDGE_TEST_SECRET;
    const [line, folder, ...names] = (output?.kind === "text" ? output.text : "").trimEnd().split("\n");
    expect(line).toBe('{   "a": "b\\n" }');
    expect(folder).toBe(join(dirname(bench.directory), "here"));
    const shells = ["OLDPWD", "PWD", "SHLVL", "_"];
    const allowed = ["HOME", "LANG", "MINE", "PATH", "TMPDIR", ...shells];
    expect(names).toContain("MINE");
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it("leaves nothing that others can read, and no input when it has begun", async () => {
    const { ref } = await bench.start(bench.sh("echo out; echo '::taskbridge {\"result\":1}'"));
    await bench.ended(ref);
    const folder = bench.folder(ref);
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
    }
    expect(readdirSync(folder)).not.toContain("input.json");
  });

  it("leaves no event file and no spare behind", async () => {
    const { ref } = await bench.start(bench.sh("true"));
    await bench.ended(ref);
    await until("no event file", () => (readdirSync(join(bench.directory, ".events")).length === 0 ? true : undefined));
  });
});
