import { describe, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core";
import { isToolError, toRpcError } from "../src/index.ts";

describe("isToolError", () => {
  test("a backend that is configured wrongly is for the caller's model to see", () => {
    expect(isToolError(new BridgeError("misconfigured", "no such queue", { adapterId: "q", operation: "start" }))).toBe(
      true,
    );
  });

  test("a store that is configured wrongly is nobody's business but the operator's", () => {
    const error = new BridgeError("misconfigured", "10.0.0.1/tasks refuses this: table tasks", { operation: "create" });
    expect(isToolError(error)).toBe(false);
    expect(toRpcError(error).message).not.toContain("10.0.0.1");
  });
});
