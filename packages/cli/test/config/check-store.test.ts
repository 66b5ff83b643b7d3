import { describe, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { checkStore } from "../../src/config/check-store.ts";

const check = (changes: Partial<TaskStore>, timeoutMs = 10_000) =>
  checkStore({ store: { ...memoryStore(), ...changes }, isMemory: false, timeoutMs });

describe("a store", () => {
  test("that answers: how fast", async () => {
    expect(await check({})).toEqual([
      {
        level: "ok",
        message: expect.stringMatching(
          /^can be read in \d+ ms and written in \d+ ms, survives restarts; 0 tasks under way$/,
        ),
      },
    ]);
  });

  test.each([
    ["ahead of", 61_000],
    ["behind", -61_000],
  ])("whose clock is %s ours is warned of", async (how, byMs) => {
    const [ok, skewed] = await check({ now: () => Date.now() + byMs });
    expect([ok?.level, skewed]).toEqual([
      "ok",
      { level: "warning", message: expect.stringContaining(`its clock is 61 s ${how} this machine's`) },
    ]);
  });

  test("that takes long is warned of", async () => {
    const { list } = memoryStore();
    const slowly: TaskStore["list"] = async (...asked) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return list(...asked);
    };
    const findings = await check({ list: slowly });
    expect(findings.map(({ level }) => level)).toEqual(["ok", "warning"]);
    expect(findings[1]?.message).toContain("takes more than 250 ms");
  });

  test("that cannot be written is told by its own error", async () => {
    const refusal = new BridgeError("unavailable", "127.0.0.1:6379 is a replica that takes no writes", {
      operation: "lease",
    });
    const lease: TaskStore["lease"] = () => Promise.reject(refusal);
    await expect(check({ lease })).rejects.toBe(refusal);
  });

  test("that says nothing is not waited for without end", async () => {
    const lease: TaskStore["lease"] = () => new Promise(() => {});
    await expect(check({ lease }, 50)).rejects.toThrow("no answer within 50 ms");
  });
});
