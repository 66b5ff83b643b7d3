import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { toRef } from "../src/execution-ref.ts";
import { context, isAlive, type JobBench, jobBench, newKey, until } from "./job-bench.ts";

let bench: JobBench;

beforeEach(() => {
  bench = jobBench({ graceMs: 300 });
});
afterEach(() => bench.close());

describe("cancel", () => {
  it("ends the whole group, also those that ignore SIGTERM", async () => {
    const { ref } = await bench.start(
      bench.sh(
        "trap '' TERM; (trap '' TERM; exec sleep 600) & sleep 600 & echo '::taskbridge {\"progress\":{\"done\":1}}'; wait; sleep 600",
      ),
    );
    await bench.seen(ref, ({ progress }) => progress !== undefined);
    await bench.adapter.cancel(ref, "enough", context());
    expect(await bench.ended(ref)).toMatchObject({
      status: "cancelled",
      failure: { kind: "job", reason: "cancelled: enough" },
    });
    expect(() => process.kill(-bench.state(ref).child.pid, 0)).toThrow("ESRCH");
  });

  it("waits for stragglers of a command that obeys at once", async () => {
    const { ref } = await bench.start(
      bench.sh(
        "(trap '' TERM; echo '::taskbridge {\"progress\":{\"done\":1}}'; sleep 600; sleep 600) & exec sleep 600",
      ),
    );
    await bench.seen(ref, ({ progress }) => progress !== undefined);
    await bench.adapter.cancel(ref, "enough", context());
    expect((await bench.ended(ref)).status).toBe("cancelled");
    expect(() => process.kill(-bench.state(ref).child.pid, 0)).toThrow("ESRCH");
  });

  it("reaches a job that is stopped, and one whose supervisor is", async () => {
    const { ref } = await bench.start(bench.sh("exec sleep 600"));
    const { supervisor, child } = bench.state(ref);
    process.kill(child.pid, "SIGSTOP");
    process.kill(supervisor.pid, "SIGSTOP");
    await bench.adapter.cancel(ref, "enough", context());
    expect((await bench.ended(ref)).status).toBe("cancelled");
  });

  it("lets a job clean up in its time of grace, and still counts as cancelled", async () => {
    const { ref } = await bench.start(
      bench.sh("trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done"),
    );
    await until("ready", () => (bench.file(ref, "stdout.log").includes("ready") ? true : undefined));
    await bench.adapter.cancel(ref, "enough", context());
    expect((await bench.ended(ref)).status).toBe("cancelled");
    expect(bench.file(ref, "stdout.log")).toBe("ready\ncleaned\n");
  });

  it("is not what a kill from outside is", async () => {
    const { ref } = await bench.start(bench.sh("exec sleep 600"));
    process.kill(bench.state(ref).child.pid, "SIGTERM");
    const { status, failure } = await bench.ended(ref);
    expect({ status, failure }).toEqual({
      status: "failed",
      failure: { kind: "job", reason: "killed by SIGTERM", code: "SIGTERM" },
    });
  });

  it("keeps a job from ever running whose start was interrupted", async () => {
    const dying = jobBench({ directory: bench.directory }, { supervisorDiesAt: "claimed" });
    const key = newKey();
    const target = bench.counted("");
    await expect(dying.start(target, { key })).rejects.toMatchObject({ code: "unavailable" });
    await dying.adapter.close();
    expect(await bench.adapter.find({ key, target, firstSentAt: 0 }, context())).toBe(toRef(key));
    await bench.adapter.cancel(toRef(key), "enough", context());
    expect((await bench.ended(toRef(key))).status).toBe("cancelled");
    expect(await bench.start(target, { key })).toMatchObject({ ref: toRef(key), snapshot: { status: "cancelled" } });
    expect(bench.runs()).toBe(0);
  });

  it("at the same time as the start leaves nothing running", async () => {
    for (let round = 0; round < 4; round++) {
      const key = newKey();
      const started = bench.start(bench.sh("exec sleep 600"), { key });
      await until("claimed", async () =>
        bench.adapter.find({ key, target: bench.sh("exec sleep 600"), firstSentAt: 0 }, context()),
      );
      await bench.adapter.cancel(toRef(key), "enough", context());
      const { ref } = await started;
      expect((await bench.ended(ref)).status).toBe("cancelled");
    }
  });

  it("goes through although the server that asked for it is gone at once", async () => {
    const { ref } = await bench.start(bench.sh("trap '' TERM; while :; do sleep 0.05; done"));
    const asker = jobBench({ directory: bench.directory });
    await asker.adapter.cancel(ref, "enough", context());
    await asker.adapter.close();
    expect((await bench.ended(ref)).status).toBe("cancelled");
    expect(isAlive(bench.state(ref).child.pid)).toBe(false);
  });
});
