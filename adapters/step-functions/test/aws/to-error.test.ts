import { expect, it } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import { toError } from "../../src/aws/to-error.ts";

const location = { action: "states:StartExecution", ifSent: "outcome_unknown" } as const;

const thrown = (name: string, more: object = {}): Error =>
  Object.assign(new Error("User arn:aws:iam::1:user/x"), { name, ...more });

it.each([
  ["AccessDeniedException", "denied", true, "do not allow states:StartExecution"],
  ["KmsAccessDeniedException", "denied", true, "KMS key"],
  ["ExpiredTokenException", "unavailable", true, "have expired"],
  ["UnrecognizedClientException", "denied", true, "its region is wrong"],
  ["InvalidSignatureException", "denied", true, "its region is wrong"],
  ["RequestExpired", "unavailable", true, "clock differs"],
  ["CredentialsProviderError", "unavailable", true, "no AWS credentials"],
  ["ThrottlingException", "throttled", true, "limits the rate of states:StartExecution"],
  ["ExecutionLimitExceeded", "limit_exceeded", true, "too many executions"],
  ["StateMachineDoesNotExist", "not_found", true, "no such state machine"],
  ["StateMachineDeleting", "not_found", true, "being deleted"],
  ["StateMachineTypeNotSupported", "misconfigured", true, "of this type"],
  ["ExecutionDoesNotExist", "not_found", true, "no such execution"],
  ["ExecutionAlreadyExists", "conflict", true, "has this name"],
  ["InvalidToken", "conflict", true, "closed or its token"],
  ["TaskTimedOut", "conflict", true, "closed or its token"],
  ["TaskDoesNotExist", "conflict", true, "closed or its token"],
  ["AbortError", "outcome_unknown", false, "no answer in time"],
  ["TimeoutError", "outcome_unknown", false, "TimeoutError"],
  ["constructor", "outcome_unknown", false, "constructor"],
])("%s is %s (certainly not done: %s)", (name, code, notSent, text) => {
  const error = toError(thrown(name), location);
  expect({ code: error.code, notSent: error.notSent }).toEqual({ code, notSent });
  expect(error.message).toContain(text);
  expect(error.message).not.toContain("arn:aws:iam");
});

it.each([
  [thrown("Error", { code: "ECONNREFUSED" }), "unavailable", true],
  [thrown("Error", { code: "ENOTFOUND" }), "unavailable", true],
  [
    thrown("TimeoutError", {
      message:
        "@smithy/node-http-handler - the request socket did not establish a connection with the server within the configured timeout of 3000 ms.",
    }),
    "unavailable",
    true,
  ],
  [
    thrown("TimeoutError", {
      message: "@smithy/node-http-handler - [ERROR] a request has exceeded the configured 15000 ms requestTimeout.",
    }),
    "outcome_unknown",
    false,
  ],
  [thrown("Error", { code: "ECONNRESET" }), "outcome_unknown", false],
  [thrown("InternalFailure", { $metadata: { httpStatusCode: 500 } }), "outcome_unknown", false],
  [thrown("ServiceUnavailable", { $metadata: { httpStatusCode: 503 } }), "outcome_unknown", false],
  [thrown("SomethingNew", { $metadata: { httpStatusCode: 400 } }), "bad_response", true],
  [new Error("Region is missing"), "misconfigured", true],
])("%s is %s", (error, code, notSent) => {
  expect(toError(error, location)).toMatchObject({ code, notSent });
});

it("of a look is unavailable when nobody knows whether it arrived", () => {
  expect(toError(thrown("AbortError"), { ...location, ifSent: "unavailable" }).code).toBe("unavailable");
});

it("tells how long a limited rate is to be left alone", () => {
  expect(toError(thrown("ThrottlingException"), location).retryAfterMs).toBe(1_000);
  const reported = { $response: { headers: { "retry-after": "7" } } };
  expect(toError(thrown("ThrottlingException", reported), location).retryAfterMs).toBe(7_000);
});

it("passes on what AWS finds wrong with an input", () => {
  const error = Object.assign(new Error("Invalid execution input."), { name: "InvalidExecutionInput" });
  expect(toError(error, location)).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(error.message),
  });
});

it("leaves one of ours as it is", () => {
  const ours = new BridgeError("conflict", "x");
  expect(toError(ours, location)).toBe(ours);
});
