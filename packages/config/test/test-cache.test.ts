import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The hash that turbo finds a result of `@taskbridge/store-redis#test` again by. Nothing is run. */
const hashOf = (variables: Readonly<Record<string, string>>): string => {
  const flags = ["run", "test", "--filter=@taskbridge/store-redis", "--dry=json"];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TURBO_TELEMETRY_DISABLED: "1", ...variables };
  const output = execFileSync(join(root, "node_modules/.bin/turbo"), flags, { cwd: root, encoding: "utf8", env });
  const { tasks } = JSON.parse(output);
  const { hash } = tasks.find(({ taskId }: { taskId: string }) => taskId === "@taskbridge/store-redis#test");
  return hash;
};

const found = '{"redis":{"found":"/usr/bin/redis-server 7.0.15"}}';
const before = hashOf({ TASKBRIDGE_TEST_ENGINES: found });

test("a result is found again when the variables are the same", () => {
  expect(before).toMatch(/^[0-9a-f]{16}$/);
  expect(hashOf({ TASKBRIDGE_TEST_ENGINES: found })).toBe(before);
});

test.each([
  ["an engine was missing", { TASKBRIDGE_TEST_ENGINES: '{"redis":{"missing":"no redis-server on the PATH"}}' }],
  ["an engine had another version", { TASKBRIDGE_TEST_ENGINES: found.replace("7.0", "7.2") }],
  ["Node had another version", { TASKBRIDGE_TEST_ENGINES: found, TASKBRIDGE_TEST_NODE: "v24.0.0" }],
  ["missing engines were allowed", { TASKBRIDGE_TEST_ENGINES: found, TASKBRIDGE_REQUIRE_ENGINES: "1" }],
  ["Redis was elsewhere", { TASKBRIDGE_TEST_ENGINES: found, REDIS_URL: "redis://127.0.0.1:1" }],
  ["PostgreSQL was elsewhere", { TASKBRIDGE_TEST_ENGINES: found, DATABASE_URL: "postgres://127.0.0.1:1/x" }],
  ["a run was larger", { TASKBRIDGE_TEST_ENGINES: found, TASKBRIDGE_KILLS: "500" }],
])("a result is not replayed when %s", (_, variables) => {
  expect(hashOf(variables)).not.toBe(before);
});
