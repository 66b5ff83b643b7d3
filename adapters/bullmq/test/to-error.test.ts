import { expect, it } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import { toError } from "../src/mapping/to-error.ts";

const place = { operation: "start", address: "127.0.0.1:6379", ifSent: "outcome_unknown" } as const;

it.each([
  ["WRONGPASS invalid username-password pair", false, "denied", true],
  ["NOAUTH Authentication required.", false, "denied", true],
  ["NOPERM this user has no permissions to run the 'evalsha' command", true, "denied", true],
  ["OOM command not allowed when used memory > 'maxmemory'.", true, "unavailable", true],
  ["LOADING Redis is loading the dataset in memory", true, "unavailable", true],
  ["READONLY You can't write against a read only replica.", true, "unavailable", true],
  ["CROSSSLOT Keys in request don't hash to the same slot", true, "misconfigured", true],
  ["connect ECONNREFUSED 127.0.0.1:6379", false, "unavailable", true],
  ["Reached the max retries per request limit (which is 0).", true, "outcome_unknown", false],
  ["ERR something else", true, "outcome_unknown", false],
])("%s (sent: %s) is %s", (message, wasSent, code, notSent) => {
  const error = toError(new Error(message), { ...place, wasSent });
  expect({ code: error.code, notSent: error.notSent, operation: error.operation }).toEqual({
    code,
    notSent,
    operation: "start",
  });
  expect(error.message).toContain("127.0.0.1:6379");
});

it.each([
  [true, "outcome_unknown", false],
  [false, "unavailable", true],
])("a call that was given up (sent: %s) is %s", (wasSent, code, notSent) => {
  const error = toError(new DOMException("x", "AbortError"), { ...place, wasSent });
  expect(error).toMatchObject({ code, notSent });
});

it("what is one of ours already stays as it is", () => {
  const ours = new BridgeError("conflict", "x");
  expect(toError(ours, { ...place, wasSent: true })).toBe(ours);
});
