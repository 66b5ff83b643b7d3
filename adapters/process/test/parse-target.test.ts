import { describe, expect, it } from "@jest/globals";
import { parseTarget } from "../src/parse-target.ts";

const pathOf = (target: unknown): unknown => {
  try {
    parseTarget(target);
  } catch (error) {
    const { code, data } = error as { code: string; data: { path: string } };
    return code === "misconfigured" ? data.path : code;
  }
  return "accepted";
};

describe("parseTarget", () => {
  it.each([
    [undefined, ""],
    [[], ""],
    [{}, "command"],
    [{ command: "ls -l" }, "command"],
    [{ command: [] }, "command"],
    [{ command: [""] }, "command[0]"],
    [{ command: ["ls", 7] }, "command[1]"],
    [{ command: ["ls", "a\0b"] }, "command[1]"],
    [{ command: ["ls"], shell: true }, "shell"],
    [{ command: ["ls"], cwd: "" }, "cwd"],
    [{ command: ["ls"], cwd: 1 }, "cwd"],
    [{ command: ["ls"], env: [] }, "env"],
    [{ command: ["ls"], env: { A: 1 } }, "env.A"],
    [{ command: ["ls"], env: { "A=B": "" } }, "env.A=B"],
    [{ command: ["ls"], env: { A: "a\0" } }, "env.A"],
  ])("refuses %j at %j", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it("gives the same JSON whatever the order of the members, so that a repeated start agrees with the first", () => {
    const one = parseTarget({ command: ["ls"], cwd: "a", env: { B: "2", A: "1" } });
    const other = parseTarget({ env: { A: "1", B: "2" }, cwd: "a", command: ["ls"] });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it("leaves templates alone", () => {
    expect(parseTarget({ command: ["cp", "{{input.from}}", "b"] })).toEqual({ command: ["cp", "{{input.from}}", "b"] });
  });
});
