import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
  // What the configuration's folder has installed comes before what the command line has.
  const location = join(bench.folder, "node_modules", "@taskbridge", "store-redis");
  mkdirSync(location, { recursive: true });
  writeFileSync(join(location, "package.json"), '{ "type": "module", "exports": "./index.js" }');
  const store = JSON.stringify(pathToFileURL(fixture("shared-store.mjs")).href);
  writeFileSync(join(location, "index.js"), `export { createStore } from ${store};\n`);
});
afterAll(() => bench.dispose());

/** A configuration with that store, and the name of its file. */
const configured = (store: string, more = ""): string => {
  const text = [
    "server: { http: { port: 0 } }",
    `store: ${store}`,
    `adapters: { queue: { use: ${fixture("unavailable-adapter.mjs")} } }`,
    "tools:",
    "  - { name: publish, adapter: queue, target: {} }",
  ];
  writeFileSync(join(bench.folder, "shared.yaml"), `${text.join("\n")}\n`.replace("{ http:", `{ ${more}http:`));
  return "shared.yaml";
};

describe("doctor", () => {
  test("names kind, version, place, database, prefix and durability of a store, and what that may lose", async () => {
    const config = configured('{ url: "redis://app:s3cret@db.internal:6379", prefix: "prod:" }');
    const { code, stdout } = await bench.run(["doctor", "--config", config]);
    expect(stdout).toContain(
      "ok      store: Redis 7.2.5 at db.internal:6379, database 0, prefix prod:; appendonly yes, appendfsync everysec\n" +
        "warning store: appendfsync is everysec: when its machine crashes, the last second or two is lost\n" +
        "ok      store: can be read in ",
    );
    expect(stdout).not.toContain("s3cret");
    expect(code).toBe(0);
  });
});

describe("a store that is away", () => {
  test.each([
    [["serve", "--port", "0"]],
    [["call", "publish"]],
    [["tasks", "list"]],
    [["tasks", "show", "some-task"]],
    [["tasks", "watch", "some-task"]],
    [["tasks", "cancel", "some-task"]],
    [["tasks", "answer", "some-task", "--action", "accept"]],
    [["tasks", "explain", "some-task"]],
    [["doctor"]],
  ])("%j: exit code 1, naming it", async (args) => {
    const { code, stdout, stderr } = await bench.run([...args, "--config", configured("redis://:s3cret@away:6379")]);
    expect([code, `${stdout}${stderr}`]).toEqual([
      1,
      expect.stringMatching(/store: Redis at away:6379 cannot be reached: no connection\n/),
    ]);
    expect(`${stdout}${stderr}`).not.toContain("s3cret");
  });

  test("has the code `unavailable` in a document, also when it goes while a command works", async () => {
    for (const url of ["redis://away:6379", "redis://lost:6379"]) {
      const outcome = await bench.run(["tasks", "list", "--json", "--config", configured(url)]);
      expect([outcome.code, documentOf(outcome)]).toMatchObject([1, { error: { code: "unavailable" } }]);
    }
  });

  test("is no fault of the configuration, as a wrong option is: exit code 2", async () => {
    const config = configured("{ url: redis://away:6379, prefx: x }");
    const outcome = await bench.run(["tasks", "list", "--config", config]);
    expect(outcome).toMatchObject({
      code: 2,
      stderr: "shared.yaml:2: store.prefx: unknown member; did you mean prefix?\n",
    });
  });
});

describe("the log of a server", () => {
  const logged = async (config: string): Promise<readonly { readonly instance?: string }[]> => {
    const server = await bench.serveHere(["--config", config]);
    server.kill("SIGTERM");
    const { stderr } = await server.done;
    const lines = stderr.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    return lines.map((line) => JSON.parse(line));
  };

  test("says in each line which of those that share a store it is", async () => {
    for (const { instance } of await logged(configured("redis://db:6379")))
      expect(instance).toMatch(new RegExp(`^${hostname()}:\\d+$`));
  });

  test("says it by the name of the configuration", async () => {
    const lines = await logged(configured("redis://db:6379", 'instance: "${TASKBRIDGE_TEST_POD:-pod-7}", '));
    expect(new Set(lines.map(({ instance }) => instance))).toEqual(new Set(["pod-7"]));
  });

  test("says nothing of the kind where the store is not shared", async () => {
    for (const line of await logged(configured('"memory:"'))) expect(line).not.toHaveProperty("instance");
  });
});
