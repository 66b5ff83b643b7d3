import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";
import { parseEvent } from "../src/events/parse-event.ts";
import { createAdapter } from "../src/index.ts";
import { newKey } from "./call-context.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, code = ""]) => code);

interface Config {
  readonly adapters: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tools: readonly { readonly adapter: string; readonly target: unknown }[];
}

interface Policy {
  readonly Statement: readonly { readonly Action: string | readonly string[] }[];
}

it("shows a configuration that the adapter takes", () => {
  const { adapters, tools } = parse(blocks("yaml")[0] ?? "") as Config;
  for (const { adapter: name, target } of tools) {
    const { use, ...options } = adapters[name] ?? {};
    expect(use).toBe("step-functions");
    expect(createAdapter(options, { baseDirectory: "/" }).parseTarget(target)).toEqual(target);
  }
});

it("names every action that the adapter calls, and no other", () => {
  const source = ["aws/sfn-client.ts", "events/sqs-client.ts"]
    .map((file) => readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8"))
    .join("\n");
  const called = [...source.matchAll(/(?:look|change|call)\(\s*"([A-Z]\w+)"/g)].map(([, action]) => action);
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
  const [pattern = "", policy = ""] = (blocks("json")[1] ?? "").trim().split("\n");
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

it("keeps to the length of its siblings", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(121);
});
