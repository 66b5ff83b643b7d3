import { describe, expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { createStore } from "../src/index.ts";
import { connect, describeRedis, newPrefix, rejectionOf, sharedUrl } from "./redis-bench.ts";

describeRedis("createStore", () => {
  it("opens a URL with the options of a configuration", async () => {
    const prefix = newPrefix();
    const options = { prefix, operationTimeoutMs: 1234 };
    const store = await createStore(await sharedUrl(), { baseDirectory: "/nowhere", options });
    await createSample(store);
    await store.close();
    expect(await connect(await sharedUrl()).exists(`${prefix}{meta}schema`)).toBe(1);
  });
});

describe("options", () => {
  const url = "redis://:p4ss@127.0.0.1:1";
  it.each([
    ["redis://", {}, undefined],
    ["http://127.0.0.1", {}, undefined],
    ["redis://127.0.0.1/zero", {}, undefined],
    [url, { prefix: "a{b}" }, "prefix"],
    [url, { prefix: 7 }, "prefix"],
    [url, { operationTimeoutMs: 0 }, "operationTimeoutMs"],
    [url, { nodes: ["tcp://127.0.0.1"] }, "nodes[0]"],
    [url, { nodes: "redis://127.0.0.1" }, "nodes"],
    ["redis://mine", { sentinels: [] }, "sentinels"],
    ["redis://mine", { sentinels: ["10.0.0.1:26379"] }, "sentinels[0]"],
    ["redis://mine", { sentinels: ["redis://:p4ss@a"], nodes: ["redis://b"] }, "sentinels"],
    [url, { sentinels: ["redis://a"] }, undefined],
    [url, { waitReplicas: 1 }, "waitReplicas"],
    [url, { waitReplicas: { count: 0 } }, "waitReplicas.count"],
    [url, { waitReplicas: { count: 1, timeoutMs: 5000 } }, "waitReplicas.timeoutMs"],
    [url, { waitReplicas: { count: 1, quorum: 2 } }, "waitReplicas.quorum"],
    [url, { keyPrefix: "x" }, "keyPrefix"],
    [url, { client: {} }, "client"],
    [url, { clock: {} }, "clock"],
  ])("refuses %s with %j", async (text, options, path) => {
    const error = await rejectionOf(createStore(text, { baseDirectory: "/nowhere", options }));
    expect([error.code, error.data?.["path"]]).toEqual(["misconfigured", path]);
    expect(error.message).not.toContain("p4ss");
  });
});
