import { expect, it } from "@jest/globals";
import { readParameters } from "../../src/questions/find-token.ts";
import { parseQuestionId, toQuestion } from "../../src/questions/to-question.ts";

/** As AWS makes them. */
const awsToken = `AAAAKgAAAAIAAAAA${"bEPb0kJx+9/".repeat(30)}==`;
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

it.each([
  ["SQS, the body a map", { QueueUrl: "u", MessageBody: { token: "t", mcp: { message: "Sure?" } } }],
  [
    "SQS, the body a text",
    { QueueUrl: "u", MessageBody: JSON.stringify({ TaskToken: "t", mcp: { message: "Sure?" } }) },
  ],
  ["Lambda", { FunctionName: "f", Payload: { taskToken: "t", mcp: { message: "Sure?" } } }],
  ["beside a token of another kind", { ClientRequestToken: "c", Token: "t", mcp: { message: "Sure?" } }],
  ["within mcp", { Input: { mcp: { task_token: "t", message: "Sure?" } } }],
  ["EventBridge, a list", { Entries: [{ Detail: { callbackToken: "t", mcp: { message: "Sure?" } } }] }],
])("finds token and convention in the parameters of %s", (_name, parameters) => {
  const { token, mcp } = readParameters(JSON.stringify(parameters));
  expect([token, mcp?.message]).toEqual(["t", "Sure?"]);
});

it("knows AWS' tokens under any name, and takes none where there is none", () => {
  expect(readParameters(JSON.stringify({ FunctionName: "f", Payload: { x: awsToken } })).token).toBe(awsToken);
  expect(readParameters(JSON.stringify({ ClientRequestToken: "c", NextToken: "n", Body: "b" })).token).toBeUndefined();
  expect(readParameters("").token).toBeUndefined();
  expect(readParameters("{broken").token).toBeUndefined();
});

const callback = (parameters: object, more: object = {}) => ({
  id: 17,
  at: 1_000_000,
  state: "Approve",
  isSubmitted: true,
  task: { resource: "invoke.waitForTaskToken", parameters: JSON.stringify(parameters), ...more },
});

it("asks in the author's words", () => {
  const asked = { token: "t", mcp: { message: "Delete 14 files?", requestedSchema: schema } };
  expect(toQuestion(callback(asked, { timeoutMs: 60_000, heartbeatMs: 30_000 }))).toEqual({
    id: "sfn:17",
    message: "Delete 14 files?",
    schema,
    secret: "t",
    expiresAt: 1_060_000,
    heartbeatMs: 30_000,
  });
});

it("asks by the state's name where its author says nothing, and not at all where nobody could answer", () => {
  expect(toQuestion(callback({ token: "t" }))).toEqual({
    id: "sfn:17",
    message: "Approve waits for an answer",
    secret: "t",
  });
  expect(toQuestion(callback({ token: "t", mcp: { message: " ", requestedSchema: "x" } }))?.message).toContain(
    "Approve",
  );
  expect(toQuestion(callback({ QueueUrl: "u", MessageBody: "Sure?" }))).toBeUndefined();
});

it("takes AWS' timeout of three years for none", () => {
  expect(toQuestion(callback({ token: "t" }, { timeoutMs: 99_999_999_000 }))?.expiresAt).toBeUndefined();
});

it("knows its own IDs", () => {
  expect([parseQuestionId("sfn:17"), parseQuestionId("approve#2"), parseQuestionId("sfn:")]).toEqual([
    17,
    undefined,
    undefined,
  ]);
});
