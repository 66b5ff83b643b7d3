import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type ExecutionUpdate, isEnded } from "@taskbridge/core/adapter";
import { context, type JobBench, jobBench, newKey, until } from "./job-bench.ts";

let bench: JobBench;
let updates: { readonly at: number; readonly update: ExecutionUpdate }[];

beforeEach(() => {
  bench = jobBench();
  updates = [];
});
afterEach(() => bench.close());

const listen = (sink?: () => void) =>
  bench.adapter.watch(
    {
      targets: [],
      sink: async (event) => {
        sink?.();
        for (const update of event) updates.push({ at: Date.now(), update });
      },
      ended: () => {},
    },
    context(),
  );
const reported = (fits: (update: ExecutionUpdate) => boolean) =>
  until("an update", () => updates.find(({ update }) => fits(update)));

describe("watch", () => {
  it("tells start, progress, question and end, soon", async () => {
    const subscription = await listen();
    const key = newKey();
    const { ref } = await bench.start(
      bench.sh(
        `echo '::taskbridge {"progress":{"done":1}}'; sleep 0.1; echo '::taskbridge {"ask":{"key":"a","message":"?"}}'; read -r i; read -r a`,
      ),
      { key },
    );
    await reported(({ snapshot }) => snapshot?.progress?.done === 1);
    const { update } = await reported(({ snapshot }) => snapshot?.status === "waiting");
    expect(update).toMatchObject({ key, ref });
    await bench.answer(ref, { id: "a", message: "?" });
    const end = await reported(({ snapshot }) => snapshot !== undefined && isEnded(snapshot.status));
    expect(end.update).toMatchObject({
      key,
      ref,
      snapshot: { status: "succeeded", output: { kind: "text", text: "" } },
    });
    // Not by the look every two seconds that covers a lost event.
    expect(end.at - (end.update.snapshot?.endedAt ?? 0)).toBeLessThan(1000);
    await subscription.close();
  });

  it("tells what runs already, and tidies up what does not", async () => {
    const { ref } = await bench.start(bench.sh("exec sleep 600"));
    writeFileSync(join(bench.directory, ".events", newKey()), "");
    const subscription = await listen();
    expect((await reported(({ snapshot }) => snapshot?.status === "running")).update.ref).toBe(ref);
    expect(readdirSync(join(bench.directory, ".events"))).toHaveLength(1);
    await subscription.close();
  });

  it("hints at a job whose supervisor and command were killed", async () => {
    const subscription = await listen();
    const { ref } = await bench.start(bench.sh("exec sleep 600"));
    await reported(({ snapshot }) => snapshot?.status === "running");
    const { supervisor, child } = bench.state(ref);
    process.kill(supervisor.pid, "SIGKILL");
    process.kill(child.pid, "SIGKILL");
    expect((await reported(({ snapshot }) => snapshot === undefined)).update.ref).toBe(ref);
    await subscription.close();
  });

  it("says nothing about starts that are refused, however slow they are", async () => {
    const subscription = await listen();
    const refused = Array.from({ length: 12 }, newKey);
    const begun = Array.from({ length: 4 }, newKey);
    const outcomes = await Promise.allSettled([
      ...refused.map((key) => bench.start({ command: ["no-such-program"] }, { key })),
      ...begun.map((key) => bench.start(bench.sh("true"), { key })),
    ]);
    for (const key of begun) await reported((update) => update.key === key && update.snapshot?.status === "succeeded");
    await subscription.close();
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.code)).toEqual([
      ...refused.map(() => "misconfigured"),
      ...begun.map(() => false),
    ]);
    expect(updates.filter(({ update }) => refused.some((key) => key === update.key))).toEqual([]);
    // What is told of a job is never less than that its command was spawned.
    expect(updates.filter(({ update }) => update.snapshot?.startedAt === undefined)).toEqual([]);
  });

  it("repeats what the sink refused", async () => {
    let refusals = 1;
    const subscription = await listen(() => {
      if (refusals-- > 0) throw new Error("the store is busy");
    });
    const { ref } = await bench.start(bench.sh("true"));
    expect((await reported(({ snapshot }) => snapshot?.status === "succeeded")).update.ref).toBe(ref);
    await subscription.close();
  });

  it("tells nothing any more once it is closed", async () => {
    const subscription = await listen();
    await subscription.close();
    await subscription.close();
    await bench.ended((await bench.start(bench.sh("true"))).ref);
    expect(updates).toEqual([]);
  });
});
