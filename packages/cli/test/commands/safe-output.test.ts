import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

const secret = "topsecret123";
const config = `store: sqlite:./tasks.db
adapters:
  local: { use: process, directory: ./jobs }
tools:
  - { name: leak, adapter: local, target: { command: [sh, leak.sh], env: { SECRET: "\${TASKBRIDGE_TEST_SECRET}" } } }
  - { name: repeat, adapter: local, target: { command: [sh, repeat.sh], env: { SECRET: "\${TASKBRIDGE_TEST_SECRET}" } } }
  - { name: ring, adapter: local, target: { command: [sh, ring.sh] } }
  - { name: ring_and_fail, adapter: local, target: { command: [sh, ring.sh, "1"] } }
`;

let bench: Workbench;
beforeAll(() => {
  process.env["TASKBRIDGE_TEST_SECRET"] = secret;
  bench = createWorkbench(config);
  writeFileSync(join(bench.folder, "leak.sh"), 'echo "no $SECRET" >&2; exit 2\n');
  writeFileSync(join(bench.folder, "repeat.sh"), `echo "::taskbridge {\\"result\\":{\\"said\\":\\"$SECRET\\"}}"\n`);
  writeFileSync(
    join(bench.folder, "ring.sh"),
    "printf 'a\\033[31m\\007\\tb\\nc\\302\\233d' | tee /dev/stderr; exit $1\n",
  );
});
afterAll(async () => {
  delete process.env["TASKBRIDGE_TEST_SECRET"];
  await bench.dispose();
});

/** Calls a tool and resolves with its task's ID and all that the commands of an operator say of it. */
const notifyAll = async (tool: string): Promise<{ called: string; reported: readonly string[]; shown: string }> => {
  const called = await bench.run(["call", tool, "--config", bench.config, "--json"]);
  const { taskId } = documentOf(called) as { taskId: string };
  const reported: string[] = [];
  for (const name of ["show", "watch", "explain"]) {
    for (const flags of [[], ["--json"]]) {
      if (name === "watch" && flags.length === 0) continue;
      const outcome = await bench.run(["tasks", name, taskId, "--config", bench.config, ...flags]);
      reported.push(outcome.stdout + outcome.stderr);
    }
  }
  const shown = await bench.run(["tasks", "show", taskId, "--config", bench.config]);
  return { called: called.stdout + called.stderr, reported, shown: shown.stdout };
};

describe("what was put in for ${…} is hidden", () => {
  test("where a job's failure or the target repeats it", async () => {
    const { called, reported, shown } = await notifyAll("leak");
    for (const text of [called, ...reported]) {
      expect(text).toContain("${TASKBRIDGE_TEST_SECRET}");
      expect(text).not.toContain(secret);
    }
    expect(shown).toMatch(/failure +exit code 2: no \$\{TASKBRIDGE_TEST_SECRET\}\n/);
    const plain = await bench.run(["call", "leak", "--config", bench.config]);
    const list = await bench.run(["tasks", "list", "--config", bench.config]);
    expect(plain.stderr + list.stdout).not.toContain(secret);
  });

  test("where a result repeats it", async () => {
    const { called, reported } = await notifyAll("repeat");
    for (const text of [called, ...reported]) expect(text).not.toContain(secret);
    expect(called).toContain('"said": "${TASKBRIDGE_TEST_SECRET}"');
  });
});

describe("control characters of a job", () => {
  const controls = /(?!\n|\t)\p{Cc}/u;

  test("reach no terminal in what is said of its result", async () => {
    const { called, reported, shown } = await notifyAll("ring");
    for (const text of [called, ...reported]) expect(text).not.toMatch(controls);
    expect(shown).toMatch(/result +a�\[31m�\tb\n +c�d\n/);
  });

  test("reach no terminal in what is said of its failure", async () => {
    const { called, reported } = await notifyAll("ring_and_fail");
    const plain = await bench.run(["call", "ring_and_fail", "--config", bench.config]);
    const list = await bench.run(["tasks", "list", "--config", bench.config]);
    for (const text of [called, plain.stderr, list.stdout, ...reported]) expect(text).not.toMatch(controls);
    expect(plain.stderr).toContain("a�[31m�\tb");
  });

  test("stay in a result that goes to a file, and in a document", async () => {
    const plain = await bench.run(["call", "ring", "--config", bench.config]);
    expect(plain.stdout).toBe("a\u001b[31m\u0007\tb\nc\u009bd\n");
    const json = await bench.run(["call", "ring", "--config", bench.config, "--json"]);
    expect(documentOf(json)["result"]).toBe("a\u001b[31m\u0007\tb\nc\u009bd");
  });
});
