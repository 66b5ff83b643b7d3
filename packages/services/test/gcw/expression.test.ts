import { describe, expect, it } from "@jest/globals";
import { isEqual, parseJson, toJson } from "../../src/gcw/values.ts";
import { runSource } from "./interpreter.ts";

const evaluated = (expression: string): Promise<unknown> =>
  runSource(`    - a: { return: ${JSON.stringify(`\${${expression}}`)} }`);

describe("an expression", () => {
  it.each([
    ["2 + 3 * 4 - 1", 13],
    ["-(2 + 3)", -5],
    ["10 // 4 + 10 % 4", 4],
    ["-9 // 2", -5],
    ["5 / 2", 2.5],
    ["7.5 // 2", 3],
    ["1 < 2 AND NOT (2 < 1)", true],
    ["not true or true", true],
    ["'it' + \" is\"", "it is"],
    ['"a\\"}b"', 'a"}b'],
    ["[1, [2], true][1][0]", 2],
    ["1 == 1.0 and 1 != 2", true],
    ["null == null", true],
    ["[1, 2] == [1, 2.0]", true],
    ["len([])", 0],
    ['default(null, if(false, 1, "x"))', "x"],
    ['text.split("abc", "")', ["a", "b", "c"]],
    ["math.floor(-1.5) + math.max(1, 2) + math.abs(-3)", 3],
  ])("%s", async (expression, result) => {
    expect(await evaluated(expression)).toEqual(result);
  });

  it.each([
    ["nothing", "KeyError"],
    ["1 // 0", "ZeroDivisionError"],
    ["true + 1", "TypeError"],
    ['1 < "a"', "TypeError"],
    ["1 and true", "TypeError"],
    ['"a" in "abc"', "TypeError"],
    ["9223372036854775807 + 1", "ValueError"],
    ["[1][1]", "IndexError"],
    ["[1].a", "TypeError"],
    ["len(1)", "TypeError"],
    ["len()", "TypeError"],
    ['int("x")', "ValueError"],
    ["keys([])", "TypeError"],
    ['json.decode("{")', "ValueError"],
    ['base64.decode("?")', "ValueError"],
    ['text.encode("bytes")', "TypeError"],
    ['text.match_regex("a", "(")', "ValueError"],
    ['text.substring("abc", 2, 9)', "IndexError"],
    ['sys.get_env("NONE")', "KeyError"],
  ])("%s fails with a %s", async (expression, tag) => {
    expect(await evaluated(expression)).toEqual({ raised: expect.objectContaining({ tags: [tag] }) });
  });
});

describe("a value", () => {
  it("keeps its integers and texts through JSON", () => {
    const text = '{"n":9007199254740993,"__proto__":[1.5,"5","n6","\\"7"],"e":{},"b":[true,false,null]}';
    expect(toJson(parseJson(text))).toBe(text);
  });

  it("is no JSON that JSON.parse refuses", () => {
    expect(() => parseJson("01")).toThrow(SyntaxError);
  });

  it("is equal by its content", () => {
    expect(isEqual(parseJson('{"a":[1,{}],"b":null}'), parseJson('{"b":null,"a":[1.0,{}]}'))).toBe(true);
    expect(isEqual(parseJson('{"a":null}'), parseJson('{"b":null}'))).toBe(false);
  });
});
