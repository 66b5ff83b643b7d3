import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { context, type JobBench, jobBench, until } from "./job-bench.ts";

let bench: JobBench;

beforeEach(() => {
  bench = jobBench();
});
afterEach(() => bench.close());

const ask = (key: string, more = ""): string =>
  `echo '::taskbridge {"ask":{"key":"${key}","message":"Go on?"${more}}}'`;
const lines = (text: string): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

describe("questions of a job", () => {
  it("are told with their schema, and make it wait", async () => {
    const { ref } = await bench.start(
      bench.sh(`${ask("approve", ',"schema":{"type":"object"}')}; read -r i; read -r a`),
    );
    const question = await bench.question(ref);
    expect(question).toEqual({ id: "approve", message: "Go on?", schema: { type: "object" } });
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "waiting" } });
    await bench.answer(ref, question);
    expect((await bench.ended(ref)).status).toBe("succeeded");
  });

  it("may be open together, and are answered in any order, each once", async () => {
    const { ref } = await bench.start(
      bench.sh(
        `${ask("a")}; ${ask("b")}; ${ask("a")}; read -r i; read -r x; read -r y; read -r z; printf '%s\\n' "$x" "$y" "$z"`,
      ),
    );
    const [third, first, second] = [
      await bench.question(ref, "a#2"),
      await bench.question(ref, "a"),
      await bench.question(ref, "b"),
    ];
    await bench.answer(ref, third, { content: 3 });
    await bench.answer(ref, second, { action: "decline" });
    expect((await bench.inspect(ref, "status")) as object).toMatchObject({ snapshot: { questions: [{ id: "a" }] } });
    await bench.answer(ref, first, { content: { x: 1 } });
    const { output } = await bench.ended(ref);
    expect(lines(output?.kind === "text" ? output.text : "")).toEqual([
      { answer: { key: "a", action: "accept", content: 3 } },
      { answer: { key: "b", action: "decline" } },
      { answer: { key: "a", action: "accept", content: { x: 1 } } },
    ]);
  });

  it("asked again under the same key are new ones", async () => {
    const { ref } = await bench.start(
      bench.sh(`read -r i; for n in 1 2 3; do ${ask("k")}; read -r a; echo "$a"; done`),
    );
    for (const id of ["k", "k#2", "k#3"]) await bench.answer(ref, await bench.question(ref, id), { content: id });
    const { output } = await bench.ended(ref);
    expect(
      lines(output?.kind === "text" ? output.text : "").map(
        (line) => (line as { answer: { content: string } }).answer.content,
      ),
    ).toEqual(["k", "k#2", "k#3"]);
  });

  it("never share an ID, whatever a job calls them", async () => {
    const { ref } = await bench.start(bench.sh(`${ask("k#2")}; ${ask("k")}; ${ask("k")}; read -r i; exec sleep 600`));
    const { questions } = await bench.seen(ref, (snapshot) => snapshot.questions?.length === 3);
    expect(questions?.map(({ id }) => id)).toEqual(["k#2", "k", "k#3"]);
  });

  it("take one answer each, however often and by however many it is given", async () => {
    const { ref } = await bench.start(
      bench.sh(`${ask("a")}; read -r i; read -r a; echo "$a"; ${ask("b")}; exec sleep 600`),
    );
    const question = await bench.question(ref);
    const outcomes = await Promise.allSettled(
      ["one", "two", "one", "two"].map((answerId) => bench.answer(ref, question, { answerId })),
    );
    const failed = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason.code);
    expect(failed).toEqual(["conflict", "conflict"]);
    await bench.question(ref, "b");
    expect(lines(bench.file(ref, "stdout.log"))).toHaveLength(1);
  });

  it("are closed by the job's end, and an answer then is a conflict", async () => {
    const { ref } = await bench.start(
      bench.sh(`${ask("a")}; read -r i; while [ ! -e "$JOURNAL.go" ]; do sleep 0.02; done`),
    );
    const question = await bench.question(ref);
    writeFileSync(`${bench.journal}.go`, "");
    expect((await bench.ended(ref)).questions).toEqual([]);
    await expect(bench.answer(ref, question)).rejects.toMatchObject({ code: "conflict" });
    await expect(bench.answer(ref, { ...question, id: "never" })).rejects.toMatchObject({ code: "conflict" });
  });

  it("that are nested too deeply are log, and hold up nothing else", async () => {
    const command = [
      process.execPath,
      "-e",
      `const schema = '{"type":"object","properties":{"a":'.repeat(3000) + "{}" + "}}".repeat(3000);
       const say = (json) => require("fs").writeSync(1, "::taskbridge " + json + "\\n");
       say('{"ask":{"key":"deep","message":"?","schema":' + schema + "}}");
       say('{"progress":{"done":1}}');
       say('{"ask":{"key":"plain","message":"?"}}');
       process.stdin.resume();`,
    ];
    const { ref } = await bench.start({ command });
    await bench.question(ref, "plain");
    expect(bench.state(ref)).toMatchObject({ progress: { done: 1 }, questions: [{ id: "plain" }] });
    expect(bench.state(ref).warnings).toEqual([expect.stringContaining('not a report: {"ask":{"key":"deep"')]);
    expect(bench.file(ref, "stdout.log")).toMatch(/^::taskbridge \{"ask":\{"key":"deep"/);
  });

  it("beyond a hundred open ones are answered with cancel at once", async () => {
    const { ref } = await bench.start(
      bench.sh(
        `read -r i; for n in $(seq 1 102); do ${ask("'$n'")}; done; read -r a; read -r b; printf '%s\\n' "$a" "$b"; read -r c`,
      ),
    );
    await until("two answers", () => (bench.file(ref, "stdout.log").split("\n").length === 3 ? true : undefined));
    expect(lines(bench.file(ref, "stdout.log"))).toEqual([
      { answer: { key: "101", action: "cancel" } },
      { answer: { key: "102", action: "cancel" } },
    ]);
    expect(bench.state(ref).questions).toHaveLength(100);
    await until("a warning", () => (bench.state(ref).warnings.length > 0 ? true : undefined));
    expect(bench.state(ref).warnings).toEqual([expect.stringContaining("more than 100 open questions")]);
    await bench.answer(ref, await bench.question(ref, "7"));
    expect((await bench.ended(ref)).status).toBe("succeeded");
  });

  it("without end from a job that does not read are not kept for it", async () => {
    const { ref } = await bench.start(
      bench.sh(`yes '::taskbridge {"ask":{"key":"k","message":"?"}}' | head -n 60000; exec sleep 600`),
    );
    await until("a warning", () => (bench.state(ref).warnings.length === 2 ? true : undefined));
    expect(bench.state(ref).warnings[1]).toContain("some were not answered");
    await bench.adapter.cancel(ref, "enough", context());
    expect((await bench.ended(ref)).status).toBe("cancelled");
  });

  it("reach a job whose supervisor was stopped for a while", async () => {
    const { ref } = await bench.start(bench.sh(`${ask("a")}; read -r i; read -r a; echo "$a"`));
    const question = await bench.question(ref);
    process.kill(bench.state(ref).supervisor.pid, "SIGSTOP");
    await bench.answer(ref, question);
    expect((await bench.ended(ref)).status).toBe("succeeded");
  });

  it("are not found with an unknown execution", async () => {
    const { ref } = await bench.start(bench.sh("true"));
    await bench.ended(ref);
    await bench.adapter.forget(ref, context());
    await expect(bench.answer(ref, { id: "a", message: "?" })).rejects.toMatchObject({ code: "not_found" });
  });
});
