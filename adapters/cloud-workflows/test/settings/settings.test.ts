import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { parseTarget } from "../../src/settings/parse-target.ts";

const where = { project: "demo", location: "europe-west1" };
const misconfiguredAt = (path: string) => ({ code: "misconfigured", data: { path } });
const misconfigured = (path: string) => expect.objectContaining(misconfiguredAt(path));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "settings-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
const fileOf = (text: string): string => {
  const file = join(folder, "key.json");
  writeFileSync(file, text);
  return file;
};

describe("options", () => {
  test("are the place, and what is Google's own default", () => {
    expect(parseOptions(where)).toEqual({
      ...where,
      endpoint: undefined,
      keyFile: undefined,
      credentials: undefined,
      client: undefined,
      questions: {},
      quotaShare: 0.8,
    });
  });

  test("take a key's path from the folder of the configuration", () => {
    const key = fileOf('{"type":"service_account"}');
    expect(parseOptions({ ...where, keyFile: basename(key) }, dirname(key)).keyFile).toBe(key);
    expect(parseOptions({ ...where, keyFile: key }, "/etc").keyFile).toBe(key);
  });

  test.each([
    ["very secret", "is not JSON"],
    ['{"private_key":"very secret"}', 'is no key (JSON with "type")'],
    [undefined, "there is no such file"],
  ])("name the key's file that holds none: %j", (text, problem) => {
    const key = text === undefined ? "/nonexistent/key.json" : fileOf(text);
    const refused = { ...misconfiguredAt("keyFile"), message: `keyFile: ${problem}: ${key}` };
    expect(() => parseOptions({ ...where, keyFile: key })).toThrow(expect.objectContaining(refused));
  });

  test.each([
    "http://127.0.0.1:8787",
    "http://localhost:8787",
    "http://[::1]:8787",
    "https://workflowexecutions-x.p.googleapis.com",
  ])("take %s", (endpoint) => {
    expect(parseOptions({ ...where, endpoint }).endpoint?.origin).toBe(endpoint);
  });

  const credentials = { client_email: "a@b", private_key: "k" };
  const questions = (prompt: unknown) => ({ ...where, questions: { publish: { ask: prompt } } });
  test.each([
    [{}, "project"],
    [{ project: "demo" }, "location"],
    [{ ...where, location: "a/b" }, "location"],
    [{ ...where, region: "x" }, "region"],
    [{ ...where, endpoint: "http://example.com" }, "endpoint"],
    [{ ...where, endpoint: "http://127.0.0.1.example.com" }, "endpoint"],
    [{ ...where, endpoint: "https://x/v1" }, "endpoint"],
    [{ ...where, endpoint: "ftp://x" }, "endpoint"],
    [{ ...where, endpoint: "http://127.0.0.1:1", credentials }, "endpoint"],
    [{ ...where, endpoint: "http://127.0.0.1:1", keyFile: "k.json" }, "endpoint"],
    [{ ...where, credentials, keyFile: "k.json" }, "keyFile"],
    [{ ...where, credentials: { client_email: "a" } }, "credentials"],
    [{ ...where, client: {} }, "client"],
    [{ ...where, quotaShare: 0 }, "quotaShare"],
    [{ ...where, quotaShare: 1.1 }, "quotaShare"],
    [{ ...where, quotaShare: 1e-12 }, "quotaShare"],
    [{ ...where, project: ".." }, "project"],
    [{ ...where, endpoint: "https://:very-secret@x" }, "endpoint"],
    [{ ...where, endpoint: "https://x/#a" }, "endpoint"],
    [{ ...where, questions: [] }, "questions"],
    [{ ...where, questions: { publish: 1 } }, "questions.publish"],
    [questions("Go?"), "questions.publish.ask"],
    [questions({ message: "" }), "questions.publish.ask.message"],
    [questions({ schema: "x" }), "questions.publish.ask.schema"],
    [questions({ declinable: 1 }), "questions.publish.ask.declinable"],
    [questions({ text: "x" }), "questions.publish.ask.text"],
    [questions({ declinable: true, schema: { properties: { action: {} } } }), "questions.publish.ask.schema"],
  ])("refuse %j", (options, path) => {
    expect(() => parseOptions(options)).toThrow(misconfigured(path));
  });

  test.each([{ credentials: { private_key: "very-secret" } }, { endpoint: "https://user:very-secret@x" }])(
    "never repeat a secret: %j",
    (secret) => {
      try {
        parseOptions({ ...where, ...secret });
      } catch (error) {
        expect(String(error)).not.toContain("very-secret");
      }
      expect.assertions(1);
    },
  );
});

describe("targets", () => {
  test.each([
    [{ workflow: "publish" }, { workflow: "publish" }],
    [{ workflow: "projects/demo/locations/europe-west1/workflows/publish" }, { workflow: "publish" }],
    [{ workflow: "{{input.workflow}}" }, { workflow: "{{input.workflow}}" }],
    [
      { workflow: "publish", labels: { team: "video", customer: "{{input.customer}}", n: 7 } },
      { workflow: "publish", labels: { customer: "{{input.customer}}", n: "7", team: "video" } },
    ],
  ])("take %j", (target, parsed) => {
    expect(parseTarget(target, where)).toEqual(parsed);
    expect(parseTarget(parsed, where)).toEqual(parsed);
  });

  test.each([
    [undefined, ""],
    [[], ""],
    [{}, "workflow"],
    [{ workflow: "a b" }, "workflow"],
    [{ workflow: "a/../b" }, "workflow"],
    [{ workflow: "{{input.x}}/executions" }, "workflow"],
    [{ workflow: "projects/other/locations/europe-west1/workflows/publish" }, "workflow"],
    [{ workflow: "projects/demo/locations/us-east1/workflows/publish" }, "workflow"],
    [{ workflow: "projects/other/locations/europe-west1/workflows/{{input.x}}" }, "workflow"],
    [{ workflow: "projects/{{input.p}}/locations/europe-west1/workflows/publish" }, "workflow"],
    [{ workflow: "{{}}:cancel" }, "workflow"],
    [{ workflow: "publish", version: 1 }, "version"],
    [{ workflow: "publish", labels: { team: "x {{ y" } }, "labels.team"],
    [{ workflow: "publish", labels: 1 }, "labels"],
    [{ workflow: "publish", labels: { Team: "x" } }, "labels.Team"],
    [{ workflow: "publish", labels: { mcp_run: "x" } }, "labels.mcp_run"],
    [{ workflow: "publish", labels: { mcp_by: "x" } }, "labels.mcp_by"],
    [{ workflow: "publish", labels: { team: "A B" } }, "labels.team"],
    [{ workflow: "publish", labels: { team: "x".repeat(64) } }, "labels.team"],
  ])("refuse %j", (target, path) => {
    expect(() => parseTarget(target, where)).toThrow(misconfigured(path));
  });
});
