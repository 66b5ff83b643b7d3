import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import type { ExecutionRef, ExecutionSnapshot } from "@taskbridge/core/adapter";
import { parse } from "yaml";
import { createAdapter } from "../src/index.ts";
import { callContext, newKey } from "./call-context.ts";
import { demoLocation, gcwBench } from "./gcw-bench.ts";
import { until } from "./until.ts";

const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, code = ""]) => code);

interface Config {
  readonly adapters: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tools: readonly { readonly adapter: string; readonly target: unknown }[];
}

const configured = (more: object = {}) => {
  const { adapters, tools } = parse(blocks("yaml")[0] ?? "") as Config;
  const [tool] = tools;
  const { use, ...options } = adapters[tool?.adapter ?? ""] ?? {};
  const adapter = createAdapter({ ...options, ...more }, { baseDirectory: "/" });
  return { use, adapter, target: adapter.parseTarget(tool?.target) };
};

it("shows a configuration that the adapter takes", () => {
  const { use, target } = configured();
  expect(use).toBe("cloud-workflows");
  expect(target).toEqual({ workflow: "publish" });
});

it("shows what the example runs, which is on an engine of this host", async () => {
  const exampleFile = (name: string): Promise<string> =>
    readFile(new URL(`../../../examples/cloud-workflows/${name}`, import.meta.url), "utf8");
  expect(parse(blocks("yaml")[1] ?? "")).toEqual(parse(await exampleFile("publish.yaml")));
  const { adapters, tools } = parse(await exampleFile("taskbridge.yaml")) as Config;
  const { endpoint, ...gcp } = adapters.gcp ?? {};
  expect({ adapters: { gcp }, tools }).toEqual({
    adapters: (parse(blocks("yaml")[0] ?? "") as Config).adapters,
    tools: (parse(blocks("yaml")[0] ?? "") as Config).tools,
  });
  const [, engineAt = ""] = /^ +# endpoint: "([^"]+)"/m.exec(readme) ?? [];
  expect(endpoint).toBe(`\${GCW_ENDPOINT:-${engineAt}}`);
  expect(readme).toContain("npm --prefix examples/cloud-workflows start");
});

it("names every permission that the adapter's calls need, and no other", async () => {
  const files = ["executions-client.ts", "rest-calls.ts"].map(
    (file) => new URL(`../src/google/${file}`, import.meta.url),
  );
  const source = (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
  const needed = [...source.matchAll(/"((?:executions|callbacks|stepEntries|workflows)\.\w+)",/g)];
  const role = JSON.parse(blocks("json")[0] ?? "") as { readonly includedPermissions: readonly string[] };
  expect([...new Set(needed.map(([, action]) => `workflows.${action}`))].sort()).toEqual(
    [...role.includedPermissions].sort(),
  );
});

describe("the usage", () => {
  it("runs as pasted", async () => {
    const bench = await gcwBench();
    try {
      await bench.deploy("publish", blocks("yaml")[1] ?? "");
      const { adapter, target } = configured({ endpoint: bench.endpoint, project: demoLocation.project });
      const request = { key: newKey(), target, input: '{"file":"a.md"}', attempt: 1 };
      const { ref } = await adapter.start(request, callContext());
      const see = async (): Promise<ExecutionSnapshot | undefined> => inspectOne(adapter, ref);
      const asked = await until("it asks", async () => (await see())?.questions?.[0]);
      expect(asked.message).toBe("Publish it?");
      const answer = { answerId: "a", attempt: 1, question: asked, action: "accept", content: { as: "Ada" } } as const;
      await adapter.answer?.(ref, answer, callContext());
      const output = await until("it ends", async () => (await see())?.output);
      expect(output).toEqual({ kind: "json", value: { file: "a.md", as: "Ada" } });
      await adapter.close?.();
    } finally {
      await bench.stop();
    }
  }, 60_000);
});

const inspectOne = async (
  adapter: ReturnType<typeof createAdapter>,
  ref: ExecutionRef,
): Promise<ExecutionSnapshot | undefined> => {
  const [outcome] = (await adapter.inspect?.([{ ref, want: "detail" }], callContext())) ?? [];
  return outcome !== undefined && "snapshot" in outcome ? outcome.snapshot : undefined;
};
