import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { ExecutionOutput, ExecutionQuestion, InspectOutcome } from "@taskbridge/core/adapter";
import { parse } from "yaml";
import { parseEvent } from "../src/events/parse-event.ts";
import { createAdapter } from "../src/index.ts";
import { callContext, newKey } from "./call-context.ts";
import { describeMoto, type MotoBench, motoBench } from "./moto-bench.ts";
import { until } from "./until.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const details = readFileSync(new URL("../../../packages/docs/adapters/step-functions.md", import.meta.url), "utf8");
const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, code = ""]) => code);
const blocks = (language: string): readonly string[] => blocksOf(readme, language);

interface Config {
  readonly adapters: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tools: readonly { readonly adapter: string; readonly target: unknown }[];
}

interface Policy {
  readonly Statement: readonly { readonly Action: string | readonly string[] }[];
}

const config = parse(blocks("yaml")[0] ?? "") as Config;

const configured = (name: string, more: object = {}): Readonly<Record<string, unknown>> => {
  const { use, ...options } = config.adapters[name] ?? {};
  expect(use).toBe("step-functions");
  return { ...options, ...more };
};

it("shows a configuration that the adapter takes", () => {
  for (const { adapter, target } of config.tools)
    expect(createAdapter(configured(adapter), { baseDirectory: "/" }).parseTarget(target)).toEqual(target);
});

/** With nothing of a developer's own account, and what the README says beside. */
const localEnvironment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^AWS_/.test(name))),
  ...Object.fromEntries([...readme.matchAll(/(AWS_\w+)=(\w+)/g)].map(([, name, value]) => [name, value])),
};

const questionOf = (outcome: InspectOutcome | undefined): ExecutionQuestion | undefined =>
  outcome !== undefined && "snapshot" in outcome ? outcome.snapshot.questions?.[0] : undefined;

const outputOf = (outcome: InspectOutcome | undefined): ExecutionOutput | undefined =>
  outcome !== undefined && "snapshot" in outcome ? outcome.snapshot.output : undefined;

describeMoto("what the README shows to use", () => {
  let bench: MotoBench;
  beforeAll(async () => {
    bench = await motoBench();
  }, 90_000);
  afterAll(() => bench?.stop());

  it("makes a machine whose question is put, answered, and comes out", async () => {
    const folder = await mkdtemp(join(tmpdir(), "taskbridge-readme-"));
    const adapter = createAdapter(configured("aws", { endpoint: bench.endpoint }), { baseDirectory: folder });
    try {
      await symlink(fileURLToPath(new URL("../node_modules", import.meta.url)), join(folder, "node_modules"));
      await writeFile(join(folder, "machine.mjs"), blocks("js")[0] ?? "");
      await promisify(execFile)(process.execPath, ["machine.mjs", bench.endpoint], {
        cwd: folder,
        env: localEnvironment,
      });
      const target = config.tools[0]?.target;
      const { ref } = await adapter.start(
        { key: newKey(), target, input: '{"file":"a.md"}', attempt: 1 },
        callContext(),
      );
      const inspection = async () => (await adapter.inspect?.([{ ref, want: "detail" }], callContext()))?.[0];
      const question = await until("the question", async () => questionOf(await inspection()));
      expect(question).toMatchObject({ message: "Publish it?", schema: { properties: { as: { type: "string" } } } });
      const answer = { answerId: "1", attempt: 1, question, action: "accept", content: { as: "b.md" } } as const;
      await adapter.answer?.(ref, answer, callContext());
      const output = await until("the end", async () => outputOf(await inspection()));
      expect(output).toEqual({ kind: "json", value: { as: "b.md" } });
    } finally {
      await adapter.close?.();
      await rm(folder, { recursive: true });
    }
  }, 90_000);
});

it("says that `mcp` stands in what is sent, and shows it there", () => {
  const [script = ""] = blocks("js");
  expect(script).toMatch(/MessageBody = \{[^}]*, mcp \}/);
  expect(script).toMatch(/Parameters: \{ QueueUrl, MessageBody \}/);
});

it("names every action that the adapter calls, and no other", () => {
  const source = ["aws/sfn-client.ts", "events/sqs-client.ts"]
    .map((file) => readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8"))
    .join("\n");
  const called = [...source.matchAll(/(?:read|change|call)\(\s*"([A-Z]\w+)"/g)].map(([, action]) => action);
  const policy = JSON.parse(blocks("json")[0] ?? "") as Policy;
  const allowed = policy.Statement.flatMap(({ Action }) => Action).map((action) => action.split(":")[1]);
  // That of Express executions is told beside the policy.
  expect([...allowed, "StartSyncExecution"].sort()).toEqual([...new Set(called)].sort());
  expect(readme).toContain("states:StartSyncExecution");
});

it("does not call what ends are read by something to leave out", () => {
  const policy = JSON.parse(blocks("json")[0] ?? "") as Policy;
  expect(policy.Statement[0]?.Action).toEqual(
    expect.arrayContaining(["states:StartExecution", "states:DescribeExecution", "states:ListExecutions"]),
  );
});

it("shows a rule that matches what the adapter hears, and a policy for it", () => {
  const [pattern = "", policy = ""] = (blocksOf(details, "json")[0] ?? "").trim().split("\n");
  const rule = JSON.parse(pattern) as {
    readonly source: readonly string[];
    readonly detail: { readonly name: readonly { readonly prefix: string }[]; readonly status: readonly string[] };
  };
  const key = newKey();
  expect(key.startsWith(rule.detail.name[0]?.prefix ?? "-")).toBe(true);
  const executionArn = `arn:aws:states:eu-west-1:111122223333:execution:orders:${key}`;
  for (const status of rule.detail.status)
    expect(parseEvent(JSON.stringify({ source: rule.source[0], detail: { executionArn, status } }))).toMatchObject({
      update: { ref: executionArn },
    });
  expect((JSON.parse(policy) as Policy).Statement[0]?.Action).toBe("sqs:SendMessage");
});
