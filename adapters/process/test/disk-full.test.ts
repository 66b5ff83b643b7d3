import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { type JobBench, jobBench, newKey, until } from "./job-bench.ts";

const disk = mkdtempSync(join(tmpdir(), "taskbridge-full-"));

/** A small disk of its own needs the right to mount one. */
const canMount = ((): boolean => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "ignore" });
    execFileSync("umount", [disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
if (!canMount) process.stderr.write("SKIPPED: the tests of a full disk need the right to mount a tmpfs\n");

const ballast = join(disk, "ballast");
const fill = (): void => {
  const file = openSync(ballast, "w");
  const block = Buffer.alloc(4096);
  try {
    for (;;) if (writeSync(file, block) < block.length) break;
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
};

(canMount ? describe : describe.skip)("on a full disk", () => {
  let bench: JobBench;
  const path = (name: string): string => join(tmpdir(), `${disk.split("/").at(-1)}-${name}`);

  beforeAll(() => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]);
  });
  afterAll(() => {
    // Lazy: a supervisor that is about to end may still hold the disk.
    execFileSync("umount", ["--lazy", disk]);
    rmSync(disk, { recursive: true });
  });
  beforeEach(() => {
    bench = jobBench({ directory: join(disk, "jobs") });
  });
  afterEach(async () => {
    rmSync(ballast, { force: true });
    await bench.close();
    rmSync(join(disk, "jobs"), { recursive: true, force: true });
  });

  it("a start is unavailable, names the path, was certainly not sent, and works later", async () => {
    await bench.ended((await bench.start(bench.sh("true"))).ref);
    fill();
    const key = newKey();
    const start = bench.start(bench.sh("true"), { key, input: JSON.stringify("x".repeat(50_000)) });
    await expect(start).rejects.toMatchObject({
      code: "unavailable",
      notSent: true,
      message: expect.stringContaining(join(disk, "jobs")),
    });
    expect(readdirSync(join(disk, "jobs")).filter((name) => name.startsWith(".new"))).toEqual([]);
    rmSync(ballast);
    const { ref } = await bench.start(bench.sh("true"), { key, input: JSON.stringify("x".repeat(50_000)) });
    expect((await bench.ended(ref)).status).toBe("succeeded");
  });

  it("a job goes on, its end is known, and a lost output is not passed off as whole", async () => {
    const go = path("go");
    const { ref } = await bench.start(
      bench.sh(`echo ready; until [ -e ${go} ]; do sleep 0.02; done; head -c 300000 /dev/zero; rm ${go}; exit 0`),
    );
    await until("ready", () => (bench.file(ref, "stdout.log") === "ready\n" ? true : undefined));
    fill();
    execFileSync("touch", [go]);
    const { status, failure } = await bench.ended(ref);
    expect({ status, failure }).toMatchObject({
      status: "failed",
      failure: { kind: "protocol", code: "output_lost", reason: expect.stringContaining("ENOSPC") },
    });
  });

  it("a job that fails does so with its own reason", async () => {
    const go = path("go");
    const { ref } = await bench.start(
      bench.sh(
        `echo ready; until [ -e ${go} ]; do sleep 0.02; done; rm ${go}; echo '::taskbridge {"progress":{"done":1}}'; echo gone >&2; exit 3`,
      ),
    );
    await until("ready", () => (bench.file(ref, "stdout.log") === "ready\n" ? true : undefined));
    fill();
    execFileSync("touch", [go]);
    expect(await bench.ended(ref)).toMatchObject({
      status: "failed",
      progress: { done: 1 },
      failure: { reason: "exit code 3: gone" },
    });
  });
});
