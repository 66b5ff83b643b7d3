import { expect, test } from "@jest/globals";
import { defaultLimits, defaultTaskPolicy } from "@taskbridge/core";
import { defaultWireLimits, defaultWires } from "@taskbridge/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { configSchema } from "../../src/config/check-schema.ts";

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
  const visit = (place: string, { properties = {} }: Schema): void => {
    for (const [name, member] of Object.entries(properties)) {
      if (member === true || (member.$ref !== undefined && member.properties === undefined)) continue;
      const text = member.description ?? "";
      if (text === "" || (name.endsWith("Ms") && !text.includes("milliseconds"))) undescribed.push(`${place}.${name}`);
      if (member.default !== undefined && !/default/i.test(text) && !place.startsWith("then"))
        undescribed.push(`${place}.${name}`);
      visit(`${place}.${name}`, member);
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
