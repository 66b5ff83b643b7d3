import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ExecutionRef, ExecutionSnapshot } from "@taskbridge/core/adapter";
import { context, isAlive, type JobBench, jobBench, until } from "./job-bench.ts";

let bench: JobBench;

beforeEach(() => {
  bench = jobBench();
});
afterEach(() => bench.close());

const run = async (script: string): Promise<ExecutionSnapshot> =>
  bench.ended((await bench.start(bench.sh(script))).ref);
const node = (script: string) => ({ command: [process.execPath, "-e", script] });
const read = async (ref: ExecutionRef, offset: number, length: number) => {
  const { bytes, totalBytes } = await bench.adapter.readOutput(ref, { offset, length }, context());
  return { text: Buffer.from(bytes).toString(), totalBytes };
};
/** Peak memory of a process in MiB. */
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

describe("the output", () => {
  it("is the last result line, or the log without reports", async () => {
    expect(
      (await run(`echo log; echo '::taskbridge {"result":1}'; echo '::taskbridge {"result":{"n":2}}'`)).output,
    ).toEqual({ kind: "json", value: { n: 2 } });
    expect((await run(`echo one; echo '::taskbridge {"progress":{"done":1}}'; echo two`)).output).toEqual({
      kind: "text",
      text: "one\ntwo\n",
    });
    expect((await run("true")).output).toEqual({ kind: "text", text: "" });
    expect((await run(`echo '::taskbridge {"result":null}'`)).output).toEqual({ kind: "json", value: null });
  });

  it("keeps malformed reports as log, with a warning", async () => {
    const { ref } = await bench.start(bench.sh("echo '::taskbridge {nonsense'; echo '::taskbridge {\"later\":1}'"));
    expect((await bench.ended(ref)).output).toEqual({
      kind: "text",
      text: '::taskbridge {nonsense\n::taskbridge {"later":1}\n',
    });
    expect(JSON.parse(bench.file(ref, "end.json")).warnings[0]).toContain("not a report: {nonsense");
  });

  it("nested deeply is kept, and so is what is reported after it", async () => {
    const deep = "[".repeat(6000) + "]".repeat(6000);
    const { ref } = await bench.start(node(`require("fs").writeSync(1, '::taskbridge {"result":${deep}}\\nlog\\n')`));
    expect((await bench.ended(ref)).output).toEqual({ kind: "stream", bytes: 12_000, mediaType: "application/json" });
    expect((await read(ref, 0, 20_000)).text).toBe(deep);
    const failed = await bench.start(
      node(
        `require("fs").writeSync(1, '::taskbridge {"result":${deep}}\\n::taskbridge {"failure":{"kind":"job","reason":"really failed"}}\\nlog\\n')`,
      ),
    );
    expect(await bench.ended(failed.ref)).toMatchObject({ status: "failed", failure: { reason: "really failed" } });
    expect(bench.file(failed.ref, "stdout.log")).toBe("log\n");
  });

  it("that is no UTF-8 is text all the same", async () => {
    const { output } = await run("printf 'caf\\351 \\303'; sleep 0.1; printf '\\251 \\377\\n'");
    expect(output).toEqual({ kind: "text", text: "caf\ufffd é \ufffd\n" });
  });

  it("of 31 MB in one line is read in ranges", async () => {
    const { ref } = await bench.start(
      node('process.stdout.write(`::taskbridge {"result":["${"é".repeat(15_500_000)}"]}\\n`)'),
    );
    const { supervisor } = bench.state(ref);
    let peak = 0;
    const { output } = await bench.seen(ref, ({ status }) => {
      if (isAlive(supervisor.pid)) peak = Math.max(peak, peakOf(supervisor.pid) || 0);
      return status === "succeeded";
    });
    expect(output).toEqual({ kind: "stream", bytes: 31_000_004, mediaType: "application/json" });
    expect(await read(ref, 0, 4)).toEqual({ text: '["é', totalBytes: 31_000_004 });
    expect(await read(ref, 31_000_000, 100)).toEqual({ text: 'é"]', totalBytes: 31_000_004 });
    expect(await read(ref, 31_000_004, 100)).toEqual({ text: "", totalBytes: 31_000_004 });
    expect(JSON.parse((await read(ref, 0, 40_000_000)).text)).toEqual(["é".repeat(15_500_000)]);
    expect(peak).toBeLessThan(200);
  });

  it("of one endless line is log, in bounded memory", async () => {
    const { ref } = await bench.start(bench.sh("head -c 100000000 /dev/zero | tr '\\0' x; exec sleep 600"));
    const path = join(bench.folder(ref), "stdout.log");
    await until("all of it", () => (statSync(path).size === 100_000_000 ? true : undefined));
    expect(peakOf(bench.state(ref).supervisor.pid)).toBeLessThan(200);
  });

  it("floods with short lines, and cancel still comes through", async () => {
    const { ref } = await bench.start(bench.sh("exec yes"));
    const path = join(bench.folder(ref), "stdout.log");
    await until("a flood", () => (statSync(path).size > 20_000_000 ? true : undefined));
    expect(peakOf(bench.state(ref).supervisor.pid)).toBeLessThan(200);
    await bench.adapter.cancel(ref, "enough", context());
    expect((await bench.ended(ref)).status).toBe("cancelled");
  });

  it("larger than allowed fails the job, which runs to its end", async () => {
    await bench.close();
    bench = jobBench({ maxOutputBytes: 1000 });
    const failure = { kind: "protocol", code: "output_lost", reason: expect.stringContaining("more than 1000 bytes") };
    expect(await run("head -c 5000 /dev/zero; printf x >> $JOURNAL")).toMatchObject({ status: "failed", failure });
    expect(await run(`printf '::taskbridge {"result":"%05000d"}\\n' 0; printf x >> $JOURNAL`)).toMatchObject({
      status: "failed",
      failure,
    });
    expect(await run(`head -c 5000 /dev/zero; echo; echo '::taskbridge {"result":1}'`)).toMatchObject({
      status: "succeeded",
      output: { value: 1 },
    });
    expect(bench.runs()).toBe(2);
  });
});

describe("the end", () => {
  it("is the command's own, whoever holds its output open", async () => {
    const { ref } = await bench.start(bench.sh("sleep 600 & echo done"));
    expect(await bench.ended(ref)).toMatchObject({ status: "succeeded", output: { text: "done\n" } });
    expect(() => process.kill(-bench.state(ref).child.pid, 0)).not.toThrow();
  });

  it("carries the exit code and the tail of stderr", async () => {
    const { failure } = await run("seq 1 5000 >&2; echo 'no such file' >&2; exit 7");
    expect(failure).toMatchObject({ kind: "job", code: "7", reason: "exit code 7: no such file" });
    expect(failure?.detail?.length).toBeLessThanOrEqual(4096);
    expect(failure?.detail).toMatch(/4999\n5000\nno such file\n$/);
  });

  it("may be reported as a failure of the call", async () => {
    const { status, failure } = await run(
      `echo '::taskbridge {"failure":{"kind":"protocol","reason":"no licence","code":"E7"}}'; exit 1`,
    );
    expect({ status, failure }).toEqual({
      status: "failed",
      failure: { kind: "protocol", reason: "no licence", code: "E7" },
    });
  });

  it("does not need a command that reads its input", async () => {
    const { ref } = await bench.start(bench.sh("exec <&-; sleep 0.1; echo ok"), {
      input: JSON.stringify("x".repeat(1_000_000)),
    });
    expect(await bench.ended(ref)).toMatchObject({ status: "succeeded", output: { text: "ok\n" } });
  });

  it("comes with a large input read whole", async () => {
    const { ref } = await bench.start(bench.sh("read -r line; printf %s \"$line\" | wc -c | tr -d ' '"), {
      input: JSON.stringify("x".repeat(1_000_000)),
    });
    expect((await bench.ended(ref)).output).toEqual({ kind: "text", text: "1000002\n" });
  });
});

describe("progress", () => {
  it("is the last that was reported, written seldom, kept at the end", async () => {
    const { ref } = await bench.start(
      node(
        'for (let n = 1; n <= 20000; n++) process.stdout.write(`::taskbridge {"progress":{"done":${n},"total":20000,"message":"n"}}\\n`)',
      ),
    );
    expect((await bench.ended(ref)).progress).toEqual({ done: 20_000, total: 20_000, message: "n" });
    expect(bench.state(ref).progress).toBeDefined();
  });

  it("is seen while the job runs", async () => {
    const { ref } = await bench.start(
      bench.sh(`echo noise >&2; echo '::taskbridge {"progress":{"done":1,"total":"x"}}'; exec sleep 600`),
    );
    expect((await bench.seen(ref, ({ progress }) => progress !== undefined)).progress).toEqual({ done: 1 });
    expect(await bench.inspect(ref, "detail")).toMatchObject({
      snapshot: { status: "running", progress: { done: 1 } },
    });
  });
});
