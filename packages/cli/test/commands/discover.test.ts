import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Outcome } from "../run-here.ts";
import { createWorkbench, type Workbench } from "../workbench.ts";

const secret = "topsecret123";
const use = fileURLToPath(new URL("../fixtures/listing-adapter.mjs", import.meta.url));

let bench: Workbench;
beforeAll(() => {
  process.env["TASKBRIDGE_TEST_SECRET"] = secret;
  bench = createWorkbench();
});
afterAll(async () => {
  delete process.env["TASKBRIDGE_TEST_SECRET"];
  await bench.dispose();
});

interface Tool {
  readonly name: string;
  readonly adapter: string;
  readonly target: unknown;
}

/** JSON is YAML, too. */
const write = (
  adapters: Readonly<Record<string, object>>,
  tools: readonly Tool[] = [{ name: "other", adapter: Object.keys(adapters)[0] ?? "", target: { run: "other" } }],
): void => {
  const entries = Object.entries(adapters).map(([name, options]) => [name, { use, ...options }]);
  const config = { store: "sqlite:./tasks.db", adapters: Object.fromEntries(entries), tools };
  writeFileSync(bench.config, JSON.stringify(config, undefined, 1));
};

const discover = (...flags: readonly string[]): Promise<Outcome> =>
  bench.run(["discover", "--config", "taskbridge.yaml", ...flags]);

const entriesOf = ({ stdout }: Outcome): Record<string, unknown>[] => JSON.parse(stdout);

const pipeline = (name: string, more: object = {}): object => ({ name, target: { run: name }, ...more });

describe("pipelines that are found", () => {
  const input = { type: "object", properties: { url: { type: "string" } } };

  test("are a table, by adapter, page after page, with the tool that has the target already", async () => {
    write(
      {
        video: {
          pages: [[pipeline("encode", { description: "Encodes\n a video." })], [pipeline("cut"), pipeline("join")]],
        },
        other: { pages: [[pipeline("encode")]] },
      },
      [
        { name: "same_name", adapter: "video", target: { run: "cut", speed: "slow" } },
        { name: "encode_video", adapter: "video", target: { speed: "fast", run: "encode" } },
        { name: "encode_again", adapter: "video", target: { run: "encode" } },
      ],
    );
    const { code, stdout, stderr } = await discover();
    expect(stdout.split("\n")).toEqual([
      "ADAPTER  NAME    CONFIGURED AS  DESCRIPTION       TARGET",
      'video    encode  encode_video   Encodes a video.  {"run":"encode"}',
      'video    cut     same_name                        {"run":"cut"}',
      'video    join                                     {"run":"join"}',
      'other    encode                                   {"run":"encode"}',
      "",
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(existsSync("tasks.db")).toBe(false);
  });

  test("--json: entries that can be pasted as they are", async () => {
    const reported = [
      pipeline("video/encode", { description: "Costs ${5}.", input }),
      pipeline("nightly"),
      pipeline("old"),
      pipeline("…"),
    ];
    write({ video: { pages: [reported.map(escaped)] }, again: { pages: [[pipeline("nightly")]] } }, [
      { name: "nightly", adapter: "video", target: { run: "elsewhere" } },
      { name: "current", adapter: "video", target: { run: "old" } },
    ]);
    const outcome = await discover("--json");
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    const entries = entriesOf(outcome);
    expect(entries).toEqual([
      { adapter: "video", name: "video_encode", description: "Costs $${5}.", target: { run: "video/encode" }, input },
      { adapter: "video", name: "nightly_2", target: { run: "nightly" } },
      { adapter: "video", name: "old", target: { run: "old" }, configuredAs: "current" },
      { adapter: "video", name: "pipeline", target: { run: "…" } },
      { adapter: "again", name: "nightly_3", target: { run: "nightly" } },
    ]);

    const pasted = entries.filter(({ configuredAs }) => configuredAs === undefined) as unknown as Tool[];
    write({ video: { pages: [reported.map(escaped)] }, again: { pages: [[pipeline("nightly")]] } }, pasted);
    expect(await bench.run(["serve", "--check", "--config", "taskbridge.yaml"])).toMatchObject({ code: 0 });
    const again = entriesOf(await discover("--json"));
    expect(again.map(({ configuredAs }) => configuredAs)).toEqual([
      "video_encode",
      "nightly_2",
      undefined,
      "pipeline",
      "nightly_3",
    ]);
  });

  test("--filter is the adapter's, --adapter leaves the others alone", async () => {
    write({
      video: { pages: [[pipeline("encode"), pipeline("cut")]] },
      broken: { fails: "no route" },
      silent: { list: false },
    });
    const filtered = await discover("--adapter", "video", "--filter", "enc", "--json");
    expect(filtered).toMatchObject({ code: 0, stderr: "" });
    expect(entriesOf(filtered)).toEqual([{ adapter: "video", name: "encode", target: { run: "encode" } }]);
  });

  test("are listed up to a limit, which is told when it cuts", async () => {
    write({ exact: { count: 10_000 }, more: { count: 10_001 } });
    const outcome = await discover("--json");
    expect(outcome).toMatchObject({
      code: 0,
      stderr: "adapters.more: only the first 10000 pipelines are listed; --filter lists fewer\n",
    });
    expect(entriesOf(outcome)).toHaveLength(20_000);
  });

  test("what they say reaches no terminal as it is, and no secret of the configuration is shown", async () => {
    const name = "ring\u001b[2J\u0007";
    const reported = {
      name,
      description: `said \${TASKBRIDGE_TEST_SECRET}\u009b`,
      target: { run: `a\n\u007f${secret}` },
    };
    write({ video: { token: "${TASKBRIDGE_TEST_SECRET}", pages: [[reported]] } });
    const [table, document] = [await discover(), await discover("--json")];
    for (const { code, stdout, stderr } of [table, document]) {
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
      expect(stdout).not.toContain(secret);
    }
    expect(table.stdout.split("\n")[1]).toBe(
      'video    ring�[2J�                 said ${TASKBRIDGE_TEST_SECRET}�  {"run":"a\\n�${TASKBRIDGE_TEST_SECRET}"}',
    );
    expect(entriesOf(document)).toEqual([
      {
        adapter: "video",
        name: "ring_2J_",
        description: "said ${TASKBRIDGE_TEST_SECRET}\u009b",
        target: { run: "a\n\u007f${TASKBRIDGE_TEST_SECRET}" },
      },
    ]);
  });
});

describe("none found", () => {
  test("is said, and no failure", async () => {
    write({ video: {} });
    expect(await discover()).toEqual({ code: 0, stdout: "", stderr: "No pipelines were found.\n" });
    const filtered = await discover("--filter", "x\u0007");
    expect(filtered).toEqual({ code: 0, stdout: "", stderr: 'No pipelines were found for the filter "x\\u0007".\n' });
    expect(await discover("--json")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  test("an adapter that cannot list is named once", async () => {
    write({ silent: { list: false }, video: { pages: [[pipeline("encode")]] } });
    const { code, stdout, stderr } = await discover();
    expect([code, stderr]).toEqual([0, "adapters.silent: the adapter listing cannot list pipelines\n"]);
    expect(stdout).toMatch(/^video +encode /m);
  });
});

describe("what goes wrong", () => {
  test("an adapter that fails is named with its place and reason, and the others are listed: exit code 1", async () => {
    write({
      broken: { pages: [[pipeline("first")]], fails: `no route to ${secret}`, token: "${TASKBRIDGE_TEST_SECRET}" },
      video: { pages: [[pipeline("encode")]], closes: "closed" },
    });
    const { code, stdout, stderr } = await discover();
    expect(stderr).toBe("taskbridge.yaml:4: adapters.broken: no route to ${TASKBRIDGE_TEST_SECRET}\n");
    expect(stdout).toMatch(/^broken +first .*\nvideo +encode /m);
    expect(code).toBe(1);
    expect(existsSync("closed")).toBe(true);
  });

  test("an adapter that refuses what it tells", async () => {
    write({ video: { pages: [[{ name: "odd", target: { walk: 1 } }]] } });
    expect(await discover()).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "taskbridge.yaml:4: adapters.video: it refuses the target of its own pipeline odd: run: a name is needed\n",
    });
  });

  test("an adapter that is not there: exit code 2, with the name that was meant", async () => {
    write({ video: {} });
    const stderr = '--adapter: there is no adapter "vidoe" in taskbridge.yaml; did you mean video?\n';
    expect(await discover("--adapter", "vidoe")).toEqual({ code: 2, stdout: "", stderr });
    expect((await discover("--adapter", "constructor")).stderr).toContain("; known: video\n");
    expect(await discover("--write")).toMatchObject({ code: 2, stdout: "" });
  });

  test("interrupted while an adapter hangs: exit code 130, with what was found, and adapters are closed", async () => {
    write({ slow: { pages: [[pipeline("first")]], hangs: true, closes: "slow-closed" } });
    const running = bench.start(["discover"]);
    await running.sees(/^adapters\.slow: a page is �\[31mslow\n/m);
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.done;
    expect(stdout).toMatch(/^slow +first /m);
    expect(stderr).toBe("adapters.slow: a page is �[31mslow\nInterrupted: the list is not complete.\n");
    expect(code).toBe(130);
    expect(existsSync(join(bench.folder, "slow-closed"))).toBe(true);
  });
});

test("--help names it and its options", async () => {
  expect((await bench.run(["--help"])).stdout).toMatch(/^ {2}discover \[options\] +list the pipelines/m);
  const { stdout } = await bench.run(["discover", "--help"]);
  for (const flag of ["--config", "--adapter", "--filter", "--json"]) expect(stdout).toContain(flag);
  expect(stdout).not.toContain("--write");
});

/** As a configuration writes what a backend says. */
function escaped(reported: object): object {
  return JSON.parse(JSON.stringify(reported).replaceAll("${", () => "$${"));
}
