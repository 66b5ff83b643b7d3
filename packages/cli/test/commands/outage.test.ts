import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Outcome } from "../run-here.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

const adapter = fileURLToPath(new URL("../fixtures/unavailable-adapter.mjs", import.meta.url));

const configText = `store: sqlite:./tasks.db
adapters:
  queue: { use: ${adapter} }
tools:
  - name: publish
    adapter: queue
    target: {}
    input: { type: object, properties: { customer: { type: string } } }
    task: { pollIntervalMs: 100 }
`;

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench(configText);
});
afterEach(() => bench.dispose());

const set = (name: string): void => writeFileSync(name, "");
const unset = (name: string): void => rmSync(name);

const tasks = (...args: string[]): Promise<Outcome> => bench.run(["tasks", ...args, "--config", bench.config]);
const call = (): ReturnType<Workbench["start"]> => bench.start(["call", "publish", "--config", bench.config]);

/** A task that asks, and its ID. The command that started it ends with it. */
const startAsking = async (): Promise<string> => {
  const [, taskId = ""] = await call().sees(/tasks answer (\S+)/);
  return taskId;
};

const end = async (taskId: string): Promise<void> => {
  await tasks("answer", taskId, "--action", "decline");
};

describe("while the backend is away", () => {
  test("call and show say why a task is not started", async () => {
    set("away");
    const calling = call();
    await calling.sees(/queued {2}not started yet: .*nobody is at home\n/);
    const [task] = documentOf(await tasks("list", "--json"))["tasks"] as [{ taskId: string; pending: unknown }];
    expect(task.pending).toMatchObject([
      { kind: "start", lastError: expect.stringMatching(/nobody is at home$/), mayHaveArrived: false },
    ]);
    const [shown, listed, explained] = [
      await tasks("show", task.taskId),
      await tasks("list"),
      await tasks("explain", task.taskId),
    ];
    expect(shown.stdout).toMatch(/\nto do +not started yet: .*nobody is at home \(tried \d+ times?\)\n/);
    expect(listed.stdout).toMatch(/ not started yet: .*nobody is at home\n/);
    expect(explained.stdout).toMatch(/\nto do +start, tried \d+ times?, next /);
    unset("away");
    await calling.sees(/tasks answer (\S+)/);
    await end(task.taskId);
    expect(await calling.done).toMatchObject({ code: 0, stdout: "decline\n" });
  });

  test("an answer and a cancel are kept, and that is said", async () => {
    const taskId = await startAsking();
    set("away");
    const answered = await tasks("answer", taskId, "--action", "accept");
    expect(answered).toMatchObject({ code: 0 });
    expect(answered.stdout).toMatch(
      /^the answer to q\d: kept; the backend has not been told yet: .*nobody is at home\n$/,
    );
    expect((await tasks("show", taskId)).stdout).toMatch(/\nto do +the answer to q\d: kept; .* \(tried \d+ times?\)\n/);
    const cancelled = await tasks("cancel", taskId);
    expect(cancelled).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^to be stopped: kept; the backend has not been told yet: .*nobody is at home\n$/),
    });
    unset("away");
    expect((await tasks("watch", taskId)).stderr).not.toBe("");
  });
});

describe("answering", () => {
  test("a question that is dismissed says under which key it is asked again, until it is not", async () => {
    const taskId = await startAsking();
    const lines: string[] = [];
    for (let time = 0; time < 4; time += 1) lines.push((await tasks("answer", taskId, "-a", "cancel")).stdout);
    const keys = lines.map((line) => /q\d+/.exec(line)?.[0] ?? "");
    expect(lines).toEqual([
      `dismissed ${keys[0]}; asked again as ${keys[1]} (2 left)\n`,
      `dismissed ${keys[1]}; asked again as ${keys[2]} (1 left)\n`,
      `dismissed ${keys[2]}; asked again as ${keys[3]} (0 left)\n`,
      `dismissed ${keys[3]}\n`,
    ]);
    expect(new Set(keys).size).toBe(4);
  });

  test("the backend's own name of a question is a key, too", async () => {
    const taskId = await startAsking();
    expect((await tasks("answer", taskId, "-k", "other", "-a", "accept")).stderr).toMatch(/no open question "other"/);
    expect(await tasks("answer", taskId, "-k", "publish", "-a", "accept")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^answered q\d+\n$/),
    });
  });

  test("of several questions, each is shown with the command that answers it", async () => {
    set("two");
    const calling = call();
    const [, reported = "", taskId = ""] = await calling.sees(
      /Announce it\?\n {2}taskbridge (tasks answer (\S+) .+ --key q\d+)\n/,
    );
    const { stdout } = await tasks("show", taskId);
    const asked = [...stdout.matchAll(/(\w+ it\?)\n +taskbridge (tasks answer .+ --key (q\d+))(?:\n|$)/g)];
    expect(asked.map(([, message]) => message)).toEqual(["Publish it?", "Announce it?"]);
    const [, , command = "", key = ""] = asked[1] ?? [];
    expect(command).toBe(reported);
    expect(await bench.run([...command.split(" "), "--action", "accept"])).toMatchObject({
      code: 0,
      stdout: `answered ${key}\n`,
    });
  });

  test("accepting a form without its values says what is wanted", async () => {
    set("form");
    const taskId = await startAsking();
    expect(await tasks("answer", taskId, "-a", "accept")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^q\d+ asks for ok: give --input JSON instead of --action accept\n$/),
    });
    expect(await tasks("answer", taskId, "--input", '{"ok":true}')).toMatchObject({ code: 0 });
  });

  test("with values of another type is a usage error, here and over the wire", async () => {
    set("form");
    const { url } = await bench.serveHere();
    const taskId = await startAsking();
    for (const where of [
      ["--config", bench.config],
      ["--url", url],
    ]) {
      const outcome = await bench.run(["tasks", "answer", taskId, "--input", '{"ok":"perhaps"}', ...where]);
      expect(outcome).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("ok") });
    }
  });
});

test("a job that the backend does not know is told as missing, and until when it is waited for", async () => {
  const taskId = await startAsking();
  set("lost");
  const shown = await tasks("show", taskId);
  expect(shown.stdout).toMatch(/\nmessage +not to be seen in the backend since .*: no such job; given up at \S+Z\n/);
  expect(shown.stdout).toMatch(/\nmissing +since \S+Z\n/);
  expect((await tasks("list")).stdout).toMatch(/not to be seen in the backend since/);
  expect(documentOf(await tasks("show", taskId, "--json"))["missingSince"]).toMatch(/^\d{4}-.*Z$/);
  const answered = await tasks("answer", taskId, "-a", "accept");
  expect(answered.stdout).toMatch(/^answered q\d+\nnot to be seen in the backend since /);
  unset("lost");
});

test("a stop is told as it turns out: carried out at once, or only asked for", async () => {
  const [one, other] = [await startAsking(), await startAsking()];
  expect(await tasks("cancel", one)).toMatchObject({ code: 0, stdout: "cancelled\n" });
  set("stubborn");
  expect(await tasks("cancel", other)).toMatchObject({ code: 0, stdout: "asked to stop\n" });
  await end(other);
});

test("wrong arguments are a usage error, here and over the wire", async () => {
  const { url } = await bench.serveHere();
  for (const where of [
    ["--config", bench.config],
    ["--url", url],
    ["--url", url, "--wire", "2025-11-25"],
    ["--url", url, "--wire", "none"],
  ]) {
    const outcome = await bench.run(["call", "publish", "--input", '{"customer":1}', ...where]);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toMatch(/customer/);
  }
});
