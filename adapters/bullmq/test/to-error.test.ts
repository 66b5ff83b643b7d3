import { expect, it } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import { toError, toFinding } from "../src/mapping/to-error.ts";

const location = { operation: "start", ifSent: "outcome_unknown", hasChanged: false } as const;

it.each([
  ["WRONGPASS invalid username-password pair", false, "denied", true],
  ["NOPERM this user has no permissions to run the 'evalsha' command", true, "denied", true],
  ["OOM command not allowed when used memory > 'maxmemory'.", true, "unavailable", true],
  ["NOPERM No permissions to run a command script: 4f1a, on @user_script:31.", true, "denied", false],
  ["BUSY Redis is busy running a script.", true, "unavailable", true],
  ["MISCONF Redis is configured to save RDB snapshots", true, "unavailable", true],
  ["MASTERDOWN Link with MASTER is down", true, "unavailable", true],
  ["NOREPLICAS Not enough good replicas to write.", true, "unavailable", true],
  ["LOADING Redis is loading the dataset in memory", true, "unavailable", true],
  ["READONLY You can't write against a read only replica.", true, "unavailable", true],
  ["CROSSSLOT Keys in request don't hash to the same slot", true, "misconfigured", true],
  ["MOVED 3999 10.0.0.7:6381", true, "misconfigured", true],
  ["connect ECONNREFUSED 10.0.0.7:6379", false, "unavailable", true],
  ["getaddrinfo ENOTFOUND redis.internal", false, "unavailable", true],
  ["Reached the max retries per request limit (which is 0).", true, "outcome_unknown", false],
  ["ERR something else", true, "outcome_unknown", false],
])("%s (sent: %s) is %s", (message, wasSent, code, notSent) => {
  const error = toError(new Error(message), { ...location, wasSent });
  expect({ code: error.code, notSent: error.notSent, operation: error.operation }).toEqual({
    code,
    notSent,
    operation: "start",
  });
  expect(error.message).not.toMatch(/10\.0|internal|user/);
  expect(toFinding(error.cause, "10.0.0.7:6379/1")).toBe(`Redis at 10.0.0.7:6379/1: ${message}`);
});

it.each([
  [true, "outcome_unknown", false],
  [false, "unavailable", true],
])("a call that was given up (sent: %s) is %s", (wasSent, code, notSent) => {
  const error = toError(new DOMException("x", "AbortError"), { ...location, wasSent });
  expect(error).toMatchObject({ code, notSent });
});

it("tells callers why a connection fails, not where", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:6379"), { code: "ECONNREFUSED" });
  const { message } = toError(error, { ...location, wasSent: false });
  expect(message).toBe("Redis cannot be reached: ECONNREFUSED");
  expect(toError(new Error("WRONGPASS x"), { ...location, wasSent: false }).message).toBe("Redis refuses: WRONGPASS");
  // Of several addresses, all refused: it has no text.
  const all = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  expect(toFinding(all, "db:6379")).toBe("Redis at db:6379: ECONNREFUSED");
});

it("of a call that was carried out in part is not said that nothing was sent", () => {
  const error = toError(new Error("BUSY Redis is busy"), { ...location, wasSent: true, hasChanged: true });
  expect(error).toMatchObject({ code: "unavailable", notSent: false });
});

it("says what a server with a password wants, not in the words of its protocol", () => {
  const error = new Error("NOAUTH HELLO must be called with the client already authenticated, otherwise …");
  const reported = toError(error, { ...location, wasSent: false });
  expect(reported).toMatchObject({ code: "denied", notSent: true });
  expect(reported.message).toBe("Redis wants a password, and none is set (`url`, `connection`)");
  expect(toFinding(error, "db:6379")).toBe("Redis at db:6379: NOAUTH: it wants a password, and none is set");
});

it("what is one of ours already stays as it is", () => {
  const ours = new BridgeError("conflict", "x");
  expect(toError(ours, { ...location, wasSent: true })).toBe(ours);
});
