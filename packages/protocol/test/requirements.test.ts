import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";

interface Requirement {
  readonly id: string;
  readonly generations: readonly string[];
  readonly behaviour: string;
  readonly spec: string;
}

const packages = join(dirname(fileURLToPath(import.meta.url)), "../..");
const requirements = JSON.parse(
  readFileSync(join(packages, "protocol/requirements.json"), "utf8"),
) as readonly Requirement[];

/** IDs that titles of tests cite, as `[A-12]`. */
const cited = new Set(
  ["protocol/test", "server/test"].flatMap((folder) =>
    readdirSync(join(packages, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && !file.endsWith("requirements.test.ts"))
      .flatMap((file) => [...readFileSync(join(packages, folder, file), "utf8").matchAll(/\[([A-Z]-\d+)\]/g)])
      .map(([, id]) => id),
  ),
);

describe("what the wire must do", () => {
  test.each(requirements)("$id is cited by a test: $behaviour", ({ id, spec, generations }) => {
    expect(cited).toContain(id);
    expect(spec).toMatch(/^https:\/\//);
    expect(generations.length).toBeGreaterThan(0);
  });

  test("each has an ID of its own, and tests cite no other", () => {
    const ids = requirements.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...cited].filter((id) => !ids.includes(String(id)))).toEqual([]);
  });
});
