import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { toRef } from "../src/execution-ref.ts";
import { context, type JobBench, jobBench, newKey, until } from "./job-bench.ts";

let bench: JobBench;

beforeEach(() => {
  bench = jobBench();
});
afterEach(() => bench.close());

const longAgo = new Date(Date.now() - 48 * 60 * 60 * 1000);

describe("forget", () => {
  it("refuses while the job runs, and removes everything afterwards", async () => {
    const { ref } = await bench.start(bench.sh("exec sleep 600"));
    await expect(bench.adapter.forget(ref, context())).rejects.toMatchObject({ code: "conflict" });
    await bench.adapter.cancel(ref, "enough", context());
    await bench.ended(ref);
    await bench.adapter.forget(ref, context());
    await bench.adapter.forget(ref, context());
    expect(readdirSync(bench.directory)).toEqual([".events"]);
  });
});

describe("leftovers", () => {
  it("of interrupted and refused starts go after a day, other jobs stay", async () => {
    const dying = jobBench({ directory: bench.directory }, { supervisorDiesAt: "claimed" });
    const interrupted = newKey();
    await expect(dying.start(bench.sh("true"), { key: interrupted })).rejects.toMatchObject({ code: "unavailable" });
    await dying.adapter.close();
    const refused = newKey();
    await expect(bench.start({ command: ["no-such-program"] }, { key: refused })).rejects.toMatchObject({
      code: "misconfigured",
    });
    const { ref } = await bench.start(bench.sh("true"));
    await bench.ended(ref);
    mkdirSync(join(bench.directory, ".new-1-abc"));
    mkdirSync(join(bench.directory, ".trash-abc"));
    for (const name of readdirSync(bench.directory)) utimesSync(join(bench.directory, name), longAgo, longAgo);

    const next = jobBench({ directory: bench.directory });
    await next.adapter.check([], context());
    await until("tidy", () => (readdirSync(bench.directory).length === 2 ? true : undefined));
    expect(readdirSync(bench.directory).sort()).toEqual([".events", bench.folder(ref).split("/").at(-1)]);
    await next.adapter.close();
  });

  it("of a moment ago stay: their starts may be repeated", async () => {
    const key = newKey();
    await expect(bench.start({ command: ["no-such-program"] }, { key })).rejects.toMatchObject({
      code: "misconfigured",
    });
    await bench.adapter.check([], context());
    expect(existsSync(bench.folder(toRef(key)))).toBe(true);
  });
});

describe("check", () => {
  it("looks for programs, folders and the directory", async () => {
    const location = dirname(bench.directory);
    writeFileSync(join(location, "tool"), "");
    chmodSync(join(location, "tool"), 0o755);
    const findings = await bench.adapter.check(
      [
        { command: ["sh"] },
        { command: ["./tool"] },
        { command: ["no-such-program"] },
        { command: ["./no-such-tool"] },
        { command: ["sh"], cwd: "no-such-folder" },
        { command: ["{{input.program}}"] },
        { command: ["tool"], env: { PATH: location } },
        { command: [location] },
      ],
      context(),
    );
    expect(findings.map(({ level, path }) => `${level} ${path}`)).toEqual([
      "ok directory",
      "ok targets[0].command[0]",
      "ok targets[1].command[0]",
      "error targets[2].command[0]",
      "error targets[3].command[0]",
      "error targets[4].cwd",
      "warning targets[5].command",
      "ok targets[6].command[0]",
      "error targets[7].command[0]",
    ]);
  });

  it("tells of a directory that cannot be made", async () => {
    writeFileSync(join(dirname(bench.directory), "file"), "");
    const other = jobBench({ directory: join(dirname(bench.directory), "file", "jobs") });
    expect(await other.adapter.check([], context())).toMatchObject([{ level: "error", path: "directory" }]);
    await expect(other.start(bench.sh("true"))).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: "directory" },
    });
    await other.adapter.close();
  });
});
