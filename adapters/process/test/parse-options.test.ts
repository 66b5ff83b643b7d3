import { describe, expect, it } from "@jest/globals";
import { createAdapter, processAdapter } from "../src/index.ts";
import { parseOptions } from "../src/parse-options.ts";

const pathOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    const { code, data } = error as { code: string; data: { path: string } };
    return code === "misconfigured" ? data.path : code;
  }
  return "accepted";
};

describe("the options", () => {
  it.each([
    [{}, "directory"],
    [{ directory: "" }, "directory"],
    [{ directory: 1 }, "directory"],
    [{ directory: "/j", graceMs: -1 }, "graceMs"],
    [{ directory: "/j", graceMs: 1.5 }, "graceMs"],
    [{ directory: "/j", graceMs: "5s" }, "graceMs"],
    [{ directory: "/j", maxOutputBytes: null }, "maxOutputBytes"],
    [{ directory: "/j", baseDirectory: "relative" }, "baseDirectory"],
    [{ directory: "/j", dir: "x" }, "dir"],
  ])("are refused: %j at %j", (options, path) => {
    expect(pathOf(() => parseOptions(options))).toBe(path);
    expect(pathOf(() => processAdapter(options as never))).toBe(path);
  });

  it("have defaults, and paths relative to the base directory", () => {
    expect(parseOptions({ directory: "jobs", baseDirectory: "/etc/bridge" })).toEqual({
      directory: "/etc/bridge/jobs",
      baseDirectory: "/etc/bridge",
      graceMs: 5000,
      maxOutputBytes: 1024 ** 3,
    });
  });

  it("of a configuration file cannot move its base directory", () => {
    const environment = { baseDirectory: "/etc/bridge" };
    expect(pathOf(() => createAdapter({ directory: "jobs", baseDirectory: "/" }, environment))).toBe("baseDirectory");
    expect(pathOf(() => createAdapter({ directory: "jobs", colour: "red" }, environment))).toBe("colour");
    expect(createAdapter({ directory: "jobs" }, environment).kind).toBe("process");
  });
});
