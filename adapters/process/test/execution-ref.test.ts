import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { asExecutionRef } from "@taskbridge/core/adapter";
import { parseRef, toRef } from "../src/execution-ref.ts";

interface OldRef {
  readonly since: number;
  readonly ref: string;
  readonly key: string;
}

const oldRefs = JSON.parse(readFileSync(new URL("./fixtures/refs.json", import.meta.url), "utf8")) as readonly OldRef[];

describe("an execution's ref", () => {
  it.each(oldRefs)("of version $since is understood for ever", ({ ref, key }) => {
    expect(parseRef(asExecutionRef(ref))).toBe(key);
  });

  it("is the same for the same key", () => {
    expect(toRef("mcp-1")).toBe(toRef("mcp-1"));
    expect(parseRef(toRef("mcp-1"))).toBe("mcp-1");
  });

  it.each(["", "null", "{}", '{"v":1,"key":"../../etc"}', '{"v":1,"key":7}', '{"v":9,"key":"mcp-1"}'])(
    "%j is refused",
    (ref) => {
      expect(() => parseRef(asExecutionRef(ref))).toThrow(expect.objectContaining({ code: "invalid_input" }));
    },
  );
});
