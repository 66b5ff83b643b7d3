import { expect, test } from "@jest/globals";
import { toExecution } from "../../src/google/to-execution.ts";

test("tells nothing of what is empty or absent", () => {
  expect(toExecution({})).toEqual({ name: "", state: "", steps: [], labels: {} });
  expect(
    toExecution({ name: "n", state: "QUEUED", startTime: null, argument: "", result: "", error: null, status: null }),
  ).toEqual({ name: "n", state: "QUEUED", steps: [], labels: {} });
});

test("tells times in milliseconds, whether seconds come as numbers or as texts", () => {
  const { startedAt, endedAt } = toExecution({
    startTime: { seconds: "1700000000", nanos: 123_999_999 },
    endTime: { seconds: 1_700_000_001 },
  });
  expect([startedAt, endedAt]).toEqual([1_700_000_000_123, 1_700_000_001_000]);
});

test("tells a failure with its frames, and lines only where they are known", () => {
  const { error } = toExecution({
    error: {
      payload: "{}",
      stackTrace: {
        elements: [
          { routine: "main", step: "check", position: { line: "7" } },
          { routine: "main", position: { line: 0 } },
        ],
      },
    },
  });
  expect(error).toEqual({
    payload: "{}",
    context: "",
    stack: [
      { routine: "main", step: "check", line: 7 },
      { routine: "main", step: "" },
    ],
  });
});

test.each([
  [{ details: "a key of KMS cannot be used", type: "KMS_ERROR" }, "a key of KMS cannot be used"],
  [{ details: "", type: "KMS_ERROR" }, "KMS_ERROR"],
] as const)("tells why a state is not to be had: %j", (stateError, reported) => {
  expect(toExecution({ stateError }).stateError).toBe(reported);
});
