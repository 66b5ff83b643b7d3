import { expect, test } from "@jest/globals";
import { defaultLimits, defaultTaskPolicy } from "@taskbridge/core";
import { defaultWireLimits, defaultWires } from "@taskbridge/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { checkSchema, configSchema } from "../../src/config/check-schema.ts";
import { formatPath } from "../../src/config/config-path.ts";

interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema | true>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly then?: Schema;
}

const schema = configSchema() as Schema;
const definitions = schema.$defs ?? {};

test("it is a JSON Schema that Ajv takes in strict mode", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  ajv.addKeyword("x-expects");
  expect(() => ajv.compile(schema)).not.toThrow();
});

test("every member is described, and a duration names its unit", () => {
  const undescribed: string[] = [];
  const visit = (location: string, { properties = {} }: Schema): void => {
    for (const [name, member] of Object.entries(properties)) {
      if (member === true || (member.$ref !== undefined && member.properties === undefined)) continue;
      const text = member.description ?? "";
      if (text === "" || (name.endsWith("Ms") && !text.includes("milliseconds")))
        undescribed.push(`${location}.${name}`);
      if (member.default !== undefined && !/default/i.test(text) && !location.startsWith("then"))
        undescribed.push(`${location}.${name}`);
      visit(`${location}.${name}`, member);
    }
  };
  visit("", schema);
  for (const [name, definition] of Object.entries(definitions)) {
    expect(definition.description).toBeTruthy();
    visit(name, definition);
    if (definition.then !== undefined) visit(`then ${name}`, definition.then);
  }
  expect(undescribed).toEqual([]);
});

test("its defaults are those of the engine and the server", () => {
  const defaultsOf = (name: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(definitions[name]?.properties ?? {}).flatMap(([member, described]) =>
        described === true || described.default === undefined ? [] : [[member, described.default]],
      ),
    );
  const limits = defaultsOf("limits");
  expect({ ...defaultLimits, ...defaultWireLimits }).toMatchObject(limits);
  expect(limits["maxBodyBytes"]).toBe(defaultLimits.maxInputBytes);
  expect(defaultsOf("server")["wires"]).toEqual(defaultWires);
  expect(defaultTaskPolicy).toMatchObject(defaultsOf("task"));
});

test("options of stores are checked by the kind of the store, in our words, and ${…} becomes the number that is wanted", () => {
  const faultsOf = (store: unknown, replaced: readonly string[] = []): readonly string[] =>
    checkSchema(
      { store, adapters: { a: { use: "x" } }, tools: [{ name: "t", adapter: "a", target: {} }] },
      new Set(replaced),
    ).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  expect(faultsOf({ url: "redis://h", waitReplica: { count: 1 } })).toEqual([
    "store.waitReplica: unknown member; did you mean waitReplicas?",
  ]);
  expect(faultsOf({ url: "rediss://h", waitReplicas: { count: 0 } })).toEqual([
    "store.waitReplicas.count: at least 1 is needed, got 0",
  ]);
  expect(faultsOf({ url: "postgresql://h/d", prefix: "x:" })).toEqual([
    "store.prefix: unknown member; known here: url, directUrl, schema, maxConnections, operationTimeoutMs",
  ]);
  expect(faultsOf({ url: "sqlite:x.db", maxBytes: "1 GB" })).toEqual([
    'store.maxBytes: a number is needed, got "1 GB"',
  ]);
  const given = { url: "postgres://h/d", maxConnections: "20" };
  expect(faultsOf(given, ["store.maxConnections"])).toEqual([]);
  expect(given.maxConnections).toBe(20);
});
