import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ExecutionRef } from "@taskbridge/core/adapter";
import type { JobState } from "../src/job-folder.ts";
import { findProcess, type ProcessIdentity, readStartTime, thisProcess } from "../src/process-identity.ts";
import { context, isAlive, type JobBench, jobBench, until } from "./job-bench.ts";

let bench: JobBench;

beforeEach(() => {
  bench = jobBench();
});
afterEach(() => bench.close());

/** Rewrites what a job has recorded, as if it had happened elsewhere or long ago. */
const forge = (ref: ExecutionRef, change: (state: JobState) => Partial<JobState>): void => {
  const path = join(bench.folder(ref), "state.json");
  const state = JSON.parse(readFileSync(path, "utf8")) as JobState;
  writeFileSync(path, JSON.stringify({ ...state, ...change(state) }));
};

const begin = async (script = "exec sleep 600"): Promise<{ ref: ExecutionRef; state: JobState }> => {
  const { ref } = await bench.start(bench.sh(script));
  return { ref, state: bench.state(ref) };
};

const kill = async (identity: ProcessIdentity): Promise<void> => {
  process.kill(identity.pid, "SIGKILL");
  await until("dead", () => (isAlive(identity.pid) ? undefined : true));
};

describe("a job whose supervisor is gone", () => {
  it("is running while its command lives, and lost when that has ended", async () => {
    const { ref, state } = await begin();
    await kill(state.supervisor);
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "running" } });
    await expect(bench.adapter.forget(ref, context())).rejects.toMatchObject({ code: "conflict" });
    await kill(state.child);
    expect(await bench.notFound(ref)).toEqual({
      proven: true,
      reason: expect.stringContaining("its supervisor was killed"),
    });
  });

  it("can be cancelled all the same, with everything in its group", async () => {
    await bench.close();
    bench = jobBench({ graceMs: 200 });
    const { ref, state } = await begin("trap '' TERM; (trap '' TERM; exec sleep 600) & wait; sleep 600");
    await kill(state.supervisor);
    await bench.adapter.cancel(ref, "enough", context());
    expect(isAlive(state.child.pid)).toBe(false);
    expect(() => process.kill(-state.child.pid, 0)).toThrow();
    expect(await bench.ended(ref)).toMatchObject({ status: "cancelled", failure: { reason: "cancelled: enough" } });
  });

  it("takes no answers", async () => {
    const { ref, state } = await begin(`echo '::taskbridge {"ask":{"key":"a","message":"?"}}'; exec sleep 600`);
    const question = await bench.question(ref);
    await kill(state.supervisor);
    await expect(bench.answer(ref, question)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("a recorded PID", () => {
  it("that another process has now is not the job's", async () => {
    const { ref, state } = await begin();
    const stranger = spawn("sleep", ["600"]);
    const taken = { ...state.supervisor, pid: stranger.pid as number };
    forge(ref, (old) => ({ supervisor: taken, child: { ...old.child, pid: stranger.pid as number } }));
    expect(await bench.notFound(ref)).toMatchObject({ proven: true });
    await bench.adapter.cancel(ref, "test", context());
    expect(isAlive(stranger.pid as number)).toBe(true);
    stranger.kill("SIGKILL");
    await once(stranger, "exit");
    process.kill(state.supervisor.pid, "SIGKILL");
    process.kill(-state.child.pid, "SIGKILL");
  });

  it.each<[string, Partial<ProcessIdentity>, string]>([
    ["an earlier boot", { bootId: "00000000-0000-0000-0000-000000000000" }, "rebooted"],
    ["another host", { host: "elsewhere" }, "(elsewhere)"],
    ["another container", { pidNamespace: "pid:[1]" }, "another container"],
  ])("of %s proves that the job is lost", async (_, change, words) => {
    const { ref, state } = await begin();
    forge(ref, (old) => ({ supervisor: { ...old.supervisor, ...change } }));
    expect(await bench.inspect(ref)).toEqual({ notFound: { proven: true, reason: expect.stringContaining(words) } });
    await bench.adapter.cancel(ref, "test", context());
    expect(isAlive(state.child.pid)).toBe(true);
    forge(ref, () => state);
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "running" } });
  });

  it("of a zombie is dead", async () => {
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "ignore"] });
    const [line] = await once(parent.stdout, "data");
    const pid = Number(line);
    const identity = { ...(await thisProcess()), pid, startTime: (await readStartTime(pid)) as string };
    expect(await findProcess(identity)).toBe("alive");
    process.kill(pid, "SIGKILL");
    await until("a zombie", () => (isAlive(pid) ? undefined : true));
    expect(await findProcess(identity)).toBe("dead");
    parent.kill("SIGKILL");
    await once(parent, "exit");
  });
});

describe("what is known about an execution", () => {
  it("keeps its end, whatever becomes of the host", async () => {
    const { ref } = await begin("exit 3");
    const end = await bench.ended(ref);
    forge(ref, (old) => ({ supervisor: { ...old.supervisor, bootId: "0", host: "elsewhere" } }));
    expect(await bench.ended(ref)).toEqual(end);
  });

  it("is nothing, unproven, when its folder is gone, and unavailable when the directory is", async () => {
    const { ref } = await begin("true");
    await bench.ended(ref);
    await bench.adapter.forget(ref, context());
    expect(await bench.inspect(ref)).toEqual({
      notFound: { proven: false, reason: expect.stringContaining(bench.directory) },
    });
    await expect(bench.adapter.cancel(ref, "test", context())).rejects.toMatchObject({ code: "not_found" });
    const other = jobBench({ directory: join(bench.directory, "no-such") });
    expect(await other.inspect(ref)).toEqual({ unavailable: expect.stringContaining("no-such") });
    await other.close();
  });

  it("survives a torn record of a running job", async () => {
    const { ref, state } = await begin();
    writeFileSync(join(bench.folder(ref), "state.json"), '{"version":1,"superv');
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "running" } });
    writeFileSync(join(bench.folder(ref), "state.json"), JSON.stringify(state));
  });
});
