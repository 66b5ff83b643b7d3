import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { CheckFinding, PipelineDescription } from "@taskbridge/core/adapter";
import { type CloudWorkflowsTarget, cloudWorkflows } from "../../src/index.ts";
import { discoverWorkflows } from "../../src/operator/discover-workflows.ts";
import { parseInputLabel, parseInputTag } from "../../src/operator/parse-input-tag.ts";
import { type AdapterOnFake, openAdapter } from "../adapter-on-fake.ts";
import { callContext } from "../call-context.ts";
import { runsOn } from "../fake/script.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "operator-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

let on: AdapterOnFake;
beforeEach(async () => {
  on = await openAdapter();
});
afterEach(() => on.close());

describe("check", () => {
  beforeEach(() => {
    on.fake.workflow("publish", runsOn);
  });
  const check = async (...workflows: readonly string[]): Promise<readonly CheckFinding[]> =>
    (await on.adapter.check?.(
      workflows.map((workflow) => ({ workflow })),
      callContext(),
    )) ?? [];
  const path = "targets[0].workflow";

  test("says what can be used and what was not tried, and leaves nothing behind", async () => {
    expect(await check("publish")).toEqual([
      { level: "ok", path, message: "publish; workflows.executions.create is not tried" },
    ]);
    expect(on.fake.journal.starts).toHaveLength(0);
  });

  test("finds what is not there, or cannot run", async () => {
    on.fake.workflow("broken", runsOn, { state: "UNAVAILABLE" });
    expect(await check("nothing", "broken", "{{input.x}}")).toEqual([
      { level: "error", path, message: expect.stringMatching(/no workflow .*nothing/) },
      { level: "error", path: "targets[1].workflow", message: expect.stringContaining("UNAVAILABLE") },
      { level: "warning", path: "targets[2].workflow", message: expect.stringContaining("depends on the input") },
    ]);
  });

  test.each([
    [{ project: "elsewhere" }, "targets[0].workflow", /workflows\.\w+\.\w+/],
    [{ location: "us-east1" }, "location", /no projects\/demo\/locations\/us-east1/],
  ])("finds a wrong place: %j", async (options, where, message) => {
    const wrong = await openAdapter({ endpoint: on.fake.endpoint, ...options });
    try {
      const findings = (await wrong.adapter.check?.([{ workflow: "publish" }], callContext())) ?? [];
      expect(findings).toContainEqual({ level: "error", path: where, message: expect.stringMatching(message) });
    } finally {
      await wrong.close();
    }
  });

  test.each(["workflows.executions.get", "workflows.executions.list"])(
    "names what is needed: %s",
    async (permission) => {
      on.fake.setFaults({ denies: [permission] });
      expect(await check("publish")).toEqual([{ level: "error", path, message: expect.stringContaining(permission) }]);
    },
  );

  test.each([
    ["workflows.executions.cancel", "cancelled"],
    ["workflows.callbacks.list", "not seen"],
    ["workflows.callbacks.send", "answered"],
    ["workflows.stepEntries.list", "parallel"],
    ["workflows.workflows.get", "not seen"],
  ])("warns of what is lost without %s", async (permission, lost) => {
    on.fake.setFaults({ denies: [permission] });
    const [warning, ok, ...others] = await check("publish");
    expect(warning).toMatchObject({ level: "warning", message: expect.stringMatching(`${permission}.*${lost}`) });
    expect(ok?.level).toBe("ok");
    expect(others).toEqual([]);
  });

  test("finds questions about no workflow and no step, and no others", async () => {
    const source = `main:
  params: [input]
  steps:
    - open: { call: events.create_callback_endpoint }
    - both:
        parallel:
          branches:
            - legal: { steps: [ "wait_legal": { call: events.await_callback } ] }
sign:
  steps:
    - ask:
        call: events.await_callback`;
    on.fake.workflow("release", runsOn, { sourceContents: source });
    const steps = { wait_legal: {}, "main.wait_legal": {}, "sign.ask": {}, wait_legl: {}, "sing.ask": {} };
    const questions = { release: steps, relase: { wait_legal: {} }, publish: { any: {} } };
    const asking = await openAdapter({ endpoint: on.fake.endpoint, questions });
    const warned = async (...workflows: readonly string[]) => {
      const targets = workflows.map((workflow) => ({ workflow }));
      const findings = (await asking.adapter.check?.(targets, callContext())) ?? [];
      return findings.filter(({ level, path: at }) => level === "warning" && at.startsWith("questions"));
    };
    const noStep = (step: string) => ({
      level: "warning",
      path: `questions.release.${step}`,
      message: expect.stringContaining("no such step"),
    });
    const wrong = [noStep("wait_legl"), noStep("sing.ask")];
    try {
      expect(await warned("release", "publish")).toEqual([
        ...wrong,
        { level: "warning", path: "questions.relase", message: "no tool runs this workflow" },
      ]);
      // Which workflows these are is known with the input.
      expect(await warned("{{input.workflow}}")).toEqual([
        ...wrong,
        { level: "warning", path: "questions.relase", message: "there is no such workflow" },
      ]);
    } finally {
      await asking.close();
    }
  });

  test("marks what no later call can mend, and only that", async () => {
    const keyFile = join(folder, "key.json");
    writeFileSync(keyFile, '{"type":"nonsense"}');
    const wrong = cloudWorkflows({ project: "demo", location: "europe-west1", keyFile });
    expect(await wrong.check?.([{ workflow: "publish" }], callContext())).toEqual([
      { level: "error", code: "misconfigured", path: "keyFile", message: `holds no key that can be used: ${keyFile}` },
    ]);
    await wrong.close?.();
    on.fake.setFaults({ denies: ["workflows.executions.get"] });
    for (const finding of await check("publish", "nothing")) expect(finding).not.toHaveProperty("code");
  });

  test("tells that Google is not reached", async () => {
    on.fake.setFaults({ on: { "*": { kind: "error", code: "UNAVAILABLE" } } });
    expect(await check("publish")).toEqual([{ level: "error", path: "", message: expect.stringContaining("503") }]);
  });
});

describe("discover", () => {
  const discover = async (filter?: string): Promise<readonly PipelineDescription<CloudWorkflowsTarget>[]> => {
    const found: PipelineDescription<CloudWorkflowsTarget>[] = [];
    for await (const one of on.adapter.discover?.(filter, callContext()) ?? []) found.push(one);
    return found;
  };

  test("tells name, description and input by the workflow's own words, then by its labels", async () => {
    on.fake.workflow("by-text", runsOn, {
      description: "Publishes a document.\ntaskbridge:input file:string pages:integer:optional",
      labels: { taskbridge_name: "publish" },
    });
    on.fake.workflow("by-label", runsOn, {
      labels: { taskbridge_description: "converts_a_film", taskbridge_input: "file-string__crf-integer-optional" },
    });
    on.fake.workflow("plain", runsOn);
    const found = Object.fromEntries((await discover()).map(({ target, ...rest }) => [target.workflow, rest]));
    const file = { type: "string" };
    expect(found).toEqual({
      "by-text": {
        name: "publish",
        description: "Publishes a document.",
        input: { type: "object", properties: { file, pages: { type: "integer" } }, required: ["file"] },
      },
      "by-label": {
        name: "by-label",
        description: "converts a film",
        input: { type: "object", properties: { file, crf: { type: "integer" } }, required: ["file"] },
      },
      plain: {
        name: "plain",
        description: expect.stringMatching(/^Runs the workflow plain\. \(takes any object:/),
        input: { type: "object" },
      },
    });
  });

  test("says where it has looked when there is nothing at all", async () => {
    const lines: string[] = [];
    const context = { ...callContext(), log: (_level: string, line: string) => void lines.push(line) };
    for await (const _ of on.adapter.discover?.(undefined, context) ?? []) throw new Error("there is none");
    expect(lines).toEqual([expect.stringContaining("projects/demo/locations/europe-west1")]);
    on.fake.workflow("publish", runsOn);
    for await (const _ of on.adapter.discover?.("x", context) ?? []) throw new Error("there is none");
    expect(lines).toHaveLength(1);
  });

  test("reads all pages, and picks by name or label", async () => {
    for (let index = 0; index < 1_200; index++)
      on.fake.workflow(`w-${index}`, runsOn, { labels: index % 2 === 0 ? { team: "video" } : {} });
    on.fake.workflow("other", runsOn);
    expect(await discover()).toHaveLength(1_201);
    expect(await discover("w-119")).toHaveLength(11);
    expect(await discover("label:team")).toHaveLength(600);
    expect(await discover("label:team=audio")).toHaveLength(0);
  });

  test("does not follow a page that names itself as the next", async () => {
    const client = { workflows: async () => ({ rows: [], next: "t" }) };
    const found = discoverWorkflows(client, { project: "p", location: "l" }, undefined, callContext(), async () => {});
    await expect(found.next()).rejects.toMatchObject({ code: "bad_response" });
  });
});

test.each(["file:text", "file", ":string", "", "a:string b"])("takes no tag for a schema that is none: %j", (tag) => {
  expect(parseInputTag(tag)).toBeUndefined();
  expect(parseInputLabel(tag)).toBeUndefined();
});
