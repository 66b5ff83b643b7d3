import { expect, test } from "@jest/globals";
import {
  readCapabilities,
  type SessionCapabilities,
  toDeclaredCapabilities,
} from "../../src/tasks-2025-11-25/index.ts";

test("capabilities that are declared again are read as they were", () => {
  const names = ["form", "url", "sampling", "taskElicitation", "taskSampling", "taskCancel"] as const;
  for (let bits = 0; bits < 2 ** names.length; bits++) {
    const flags = names.map((name, index) => [name, (bits & (1 << index)) !== 0] as const);
    const capabilities = Object.fromEntries(flags) as unknown as SessionCapabilities;
    expect(readCapabilities(toDeclaredCapabilities(capabilities))).toEqual(capabilities);
  }
});
