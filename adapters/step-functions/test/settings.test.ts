import { describe, expect, it } from "@jest/globals";
import { isBridgeError } from "@taskbridge/core/adapter";
import { createAdapter } from "../src/index.ts";
import { parseOptions } from "../src/settings/parse-options.ts";
import { parseTarget, qualifiedArn } from "../src/settings/parse-target.ts";

const pathOf = (action: () => unknown): unknown => {
  try {
    action();
  } catch (error) {
    if (isBridgeError(error) && error.code === "misconfigured") return error.data?.path;
    throw error;
  }
  return undefined;
};

const arn = "arn:aws:states:eu-west-1:111122223333:stateMachine:orders";

describe("options", () => {
  it("have defaults", () => {
    expect(parseOptions({})).toMatchObject({ type: "standard", quotaShare: 0.8, region: undefined });
  });

  it.each([
    [{ machine: "x" }, "machine"],
    [{ type: "Standard" }, "type"],
    [{ region: "" }, "region"],
    [{ endpoint: "localhost:4566" }, "endpoint"],
    [{ queueUrl: "queue" }, "queueUrl"],
    [{ type: "express", queueUrl: "https://sqs.eu-west-1.amazonaws.com/1/q" }, "queueUrl"],
    [{ quotaShare: 0 }, "quotaShare"],
    [{ quotaShare: 1.1 }, "quotaShare"],
    [{ client: {} }, "client"],
    [{ client: { send: () => {} }, endpoint: "http://127.0.0.1:1" }, "client"],
  ])("%j are refused", (options, path) => {
    expect(pathOf(() => createAdapter(options, { baseDirectory: "/" }))).toBe(path);
  });
});

describe("a target", () => {
  it.each([
    [{ stateMachine: arn }, { stateMachine: arn }, arn],
    [{ stateMachine: `${arn}:7` }, { stateMachine: arn, version: "7" }, `${arn}:7`],
    [{ stateMachine: `${arn}:live` }, { stateMachine: arn, alias: "live" }, `${arn}:live`],
    [{ stateMachine: arn, version: 7 }, { stateMachine: arn, version: "7" }, `${arn}:7`],
    [{ stateMachine: arn, alias: "live" }, { stateMachine: arn, alias: "live" }, `${arn}:live`],
    [{ stateMachine: "orders" }, { stateMachine: "orders" }, arn],
    [
      { stateMachine: "{{input.m}}", alias: "{{input.a}}" },
      { stateMachine: "{{input.m}}", alias: "{{input.a}}" },
      undefined,
    ],
  ])("%j is read, and reads as itself again", (given, parsed, started) => {
    const target = parseTarget(given, "eu-west-1");
    expect(target).toEqual(parsed);
    expect(parseTarget(target, "eu-west-1")).toEqual(target);
    if (started !== undefined) expect(qualifiedArn(arn, target)).toBe(started);
  });

  it.each([
    [undefined, ""],
    [[], ""],
    [{}, "stateMachine"],
    [{ stateMachine: "a b" }, "stateMachine"],
    [{ stateMachine: "{{machine}}" }, "stateMachine"],
    [{ stateMachine: "arn:aws:lambda:eu-west-1:111122223333:function:x" }, "stateMachine"],
    [{ stateMachine: "arn:aws:states:eu-west-1:111122223333:execution:orders:x" }, "stateMachine"],
    [{ stateMachine: "arn:aws:states:us-east-1:111122223333:stateMachine:orders" }, "stateMachine"],
    [{ stateMachine: arn, version: "live" }, "version"],
    [{ stateMachine: arn, version: 0 }, "version"],
    [{ stateMachine: arn, alias: "a b" }, "alias"],
    [{ stateMachine: arn, version: 1, alias: "live" }, "alias"],
    [{ stateMachine: `${arn}:7`, version: 7 }, "version"],
    [{ stateMachine: arn, name: "x" }, "name"],
  ])("%j is refused", (target, path) => {
    expect(pathOf(() => parseTarget(target, "eu-west-1"))).toBe(path);
  });
});
