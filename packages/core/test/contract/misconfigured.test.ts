import { expect, test } from "@jest/globals";
import { misconfigured, refuseOtherMembers } from "../../src/adapter.ts";

test("tells the place, or nothing of it where it is the whole", () => {
  expect(misconfigured("options.delay", "must be a number")).toMatchObject({
    code: "misconfigured",
    message: "options.delay: must be a number",
    data: { path: "options.delay" },
  });
  expect(misconfigured("", "must be a map")).toMatchObject({ message: "must be a map", data: { path: "" } });
});

test.each([
  [{}, undefined],
  [{ a: 1 }, undefined],
  [{ a: 1, c: 2, d: 3 }, "options.c"],
  [{ toString: 1 }, "options.toString"],
])("%j has one too many: %s", (value, path) => {
  const check = (): void => refuseOtherMembers(value, ["a", "b"], "options.", "unknown option");
  if (path === undefined) expect(check).not.toThrow();
  else
    expect(check).toThrow(
      expect.objectContaining({ code: "misconfigured", message: `${path}: unknown option`, data: { path } }),
    );
});
