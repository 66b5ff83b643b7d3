import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { fakeServer } from "../fake-server.ts";
import { freePort } from "../free-port.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
  writeFileSync(join(bench.folder, "broken.yaml"), "adapters: 1\n");
});
afterAll(() => bench.dispose());

describe("--json prints one document when a command fails, too", () => {
  test.each([
    ["an unknown flag", ["call", "echo", "--inptu", "{}"], 2, "usage", "unknown option '--inptu'"],
    ["no ID", ["tasks", "show"], 2, "usage", "missing required argument 'id'"],
    ["no command", ["tasks"], 2, "usage", ""],
    ["a tool that is not there", ["call", "ehco"], 2, "usage", 'there is no tool "ehco"'],
    ["arguments that are no JSON", ["call", "echo", "--input", "{"], 2, "usage", "--input: not JSON"],
    ["a missing argument", ["call", "wait"], 2, "invalid_input", "this tool needs the argument"],
    ["a broken configuration", ["tasks", "list", "--config", "broken.yaml"], 2, "misconfigured", "broken.yaml:1"],
    ["an ID that is not there", ["tasks", "show", "nowhere"], 1, "not_found", "Task not found"],
    ["an ID that cannot be explained", ["tasks", "explain", "nowhere"], 1, "not_found", "Task not found"],
    ["a server that is not there", ["call", "echo", "--url", "http://127.0.0.1:1/mcp"], 1, "unreachable", "(bad port)"],
    ["an address that is none", ["tasks", "list", "--url", "nowhere"], 2, "usage", "--url: an http"],
  ])("%s", async (_name, args, exitCode, code, message) => {
    const outcome = await bench.run([...args, "--json"]);
    expect(outcome.code).toBe(exitCode);
    expect(documentOf(outcome)).toEqual({ error: { code, message: expect.stringContaining(message) } });
    expect(outcome.stderr).toContain(message);
  });

  test("what is about a task names it", async () => {
    const server = await fakeServer({
      answer: ({ method }) =>
        method === "tasks/get" ? { error: { code: -32_000, message: "no\u202E more" } } : undefined,
    });
    const outcome = await bench.run(["call", "job", "--url", server.url, "--wire", "2025-11-25", "--json"]);
    await server.close();
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toContain("no\\u202e more");
    expect(documentOf(outcome)).toEqual({
      error: { code: "refused", message: "no\u202E more (-32000)", taskId: "T1" },
    });
  });

  test("and none where it was not asked for, or for the help", async () => {
    expect((await bench.run(["call", "ehco"])).stdout).toBe("");
    expect((await bench.run(["tasks", "show", "--", "--json"])).stdout).toBe("");
    const help = await bench.run(["tasks", "--help", "--json"]);
    expect(help).toMatchObject({ code: 0, stdout: expect.not.stringContaining("error") });
  });
});

test.each(["auto", "2025-11-25"])("why a server cannot be reached is told by its code (%s)", async (wire) => {
  const url = `http://127.0.0.1:${await freePort()}/mcp`;
  const { stderr } = await bench.run(["call", "echo", "--url", url, "--wire", wire]);
  expect(stderr).toMatch(/fetch failed \(ECONNREFUSED\)\n$/);
});
