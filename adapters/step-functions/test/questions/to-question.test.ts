import { expect, it } from "@jest/globals";
import { readParameters } from "../../src/questions/read-parameters.ts";
import { parseQuestionId, toQuestion } from "../../src/questions/to-question.ts";

/** As AWS makes them. */
const awsToken = `AAAAKgAAAAIAAAAA${"bEPb0kJx+9/".repeat(30)}==`;
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

const otherToken = awsToken.replaceAll("9", "8");
const asked = { message: "Pay 1,000,000?" };
const typed = { message: "harmless, press OK" };

it.each([
  ["SQS, the body a map", { QueueUrl: "u", MessageBody: { token: awsToken, mcp: asked } }],
  ["SQS, the body a text", { QueueUrl: "u", MessageBody: JSON.stringify({ TaskToken: awsToken, mcp: asked }) }],
  ["Lambda", { FunctionName: "f", Payload: { taskToken: awsToken, mcp: asked } }],
  ["beside a token of another kind", { ClientRequestToken: "c", Token: awsToken, mcp: asked }],
  ["within mcp", { Input: { mcp: { task_token: awsToken, ...asked } } }],
  ["EventBridge, a list", { Entries: [{ Detail: { callbackToken: awsToken, mcp: asked } }] }],
  ["EventBridge, a text", { Entries: [{ Detail: JSON.stringify({ token: awsToken, mcp: asked }) }] }],
  [
    "ECS",
    { mcp: asked, Overrides: { ContainerOverrides: [{ Environment: [{ Name: "TASK_TOKEN", Value: awsToken }] }] } },
  ],
])("finds token and convention in the parameters of %s", (_name, parameters) => {
  const { token, mcp } = readParameters(JSON.stringify(parameters));
  expect([token, mcp?.message]).toEqual([awsToken, asked.message]);
});

it.each([
  ["a member", { MessageBody: { input: { task_token: "evil", mcp: typed }, token: awsToken, mcp: asked } }],
  ["one of a token's shape", { MessageBody: { input: { task_token: otherToken }, token: awsToken, mcp: asked } }],
  ["JSON in a text", { MessageBody: { note: '{"taskToken":"evil"}', token: awsToken, mcp: asked } }],
  ["a long text", { MessageBody: { note: otherToken, approval: { token: awsToken, mcp: asked } } }],
  [
    "one like a prototype",
    JSON.parse(`{"MessageBody":{"__proto__":{"token":"evil"},"token":"${awsToken}","mcp":${JSON.stringify(asked)}}}`),
  ],
  ["another name", { MessageBody: { taskTokenHeader: "X-Tok", taskToken: awsToken, mcp: asked } }],
  ["a token where the author's has another name", { input: { token: "own" }, callback: awsToken, mcp: asked }],
  ["an attribute", { Attr: JSON.stringify({ mcp: typed }), MessageBody: { token: awsToken, mcp: asked } }],
  ["an earlier map", { Payload: { order: { note: "x", mcp: typed }, approval: { token: awsToken, mcp: asked } } }],
])("takes neither token nor words from what a caller typed: %s", (_name, parameters) => {
  const { token, mcp } = readParameters(JSON.stringify(parameters));
  expect([token, mcp?.message]).toEqual([awsToken, asked.message]);
});

it("takes no words from beside the place of the token", () => {
  expect(readParameters(JSON.stringify({ Payload: { order: { mcp: typed }, token: awsToken } })).mcp).toBeUndefined();
  expect(
    readParameters(JSON.stringify({ Attr: { mcp: typed }, MessageBody: { token: awsToken } })).mcp,
  ).toBeUndefined();
});

it("takes no token where two may be it", () => {
  const order = { taskToken: otherToken, mcp: typed };
  expect(readParameters(JSON.stringify({ Payload: { order, approval: { token: awsToken } } })).token).toBeUndefined();
  expect(readParameters(JSON.stringify({ Payload: { note: otherToken, x: awsToken } })).token).toBeUndefined();
});

it("knows AWS' tokens under any name, and takes none where there is none", () => {
  expect(readParameters(JSON.stringify({ FunctionName: "f", Payload: { x: awsToken } })).token).toBe(awsToken);
  expect(readParameters(JSON.stringify({ MessageBody: { token: "local" } })).token).toBe("local");
  expect(readParameters(JSON.stringify({ MessageBody: { input: { token: "own" } } })).token).toBeUndefined();
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
    schema: expect.objectContaining({ type: "object" }),
    secret: "t",
  });
  expect(toQuestion(callback({ QueueUrl: "u", MessageBody: "Sure?" }))).toBeUndefined();
});

it("asks for no more than a yes where its author wants no more", () => {
  expect(toQuestion(callback({ token: "t", mcp: { message: "Go on?" } }))).toEqual({
    id: "sfn:17",
    message: "Go on?",
    secret: "t",
  });
  const unreadable = toQuestion(callback({ token: "t", mcp: { message: " ", requestedSchema: "x" } }));
  expect(unreadable).toEqual({ id: "sfn:17", message: "Approve waits for an answer", secret: "t" });
});

it("takes AWS' timeout of three years for none", () => {
  expect(toQuestion(callback({ token: "t" }, { timeoutMs: 99_999_999_000 }))?.expiresAt).toBeUndefined();
});

it("shows the token nowhere", () => {
  const link = `https://approve.example/?token=${awsToken}`;
  const linked = { type: "object", properties: { at: { type: "string", default: link } } };
  const mcp = { message: `Approve at ${link} or ?t=${encodeURIComponent(awsToken)}`, requestedSchema: linked };
  const { secret, ...shown } = toQuestion(callback({ MessageBody: { token: awsToken, mcp } })) ?? {};
  expect(secret).toBe(awsToken);
  expect(JSON.stringify(shown)).not.toContain(awsToken.slice(0, 40));
  expect(shown).toMatchObject({
    message: "Approve at https://approve.example/?token=[token] or ?t=[token]",
    schema: { properties: { at: { default: "https://approve.example/?token=[token]" } } },
  });
});

it("knows its own IDs", () => {
  expect([parseQuestionId("sfn:17"), parseQuestionId("approve#2"), parseQuestionId("sfn:")]).toEqual([
    17,
    undefined,
    undefined,
  ]);
});
