import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { configOptions, createStore } from "../src/create-store.ts";
import { parseOptions } from "../src/parse-options.ts";
import { connect, describeRedis, newPrefix, rejectionOf, sharedUrl } from "./redis-bench.ts";

/** The schema of configuration files, which is published with the command line. */
const schema = JSON.parse(readFileSync(new URL("../../cli/taskbridge.schema.json", import.meta.url), "utf8"));

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

  it("are those that the schema describes, with its defaults", () => {
    const { url: _url, ...described } = schema.$defs.redisStore.properties;
    expect(Object.keys(described).sort()).toEqual([...configOptions].sort());
    const { prefix, operationTimeoutMs, waitReplicas } = parseOptions({ url, waitReplicas: { count: 1 } });
    expect([prefix, operationTimeoutMs]).toEqual([described.prefix.default, described.operationTimeoutMs.default]);
    const { count: _count, ...waits } = described.waitReplicas.properties;
    expect(waitReplicas).toEqual({ count: 1, timeoutMs: waits.timeoutMs.default });
    expect(Object.keys(waits)).toEqual(["timeoutMs"]);
  });

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
    ["redis://mine", { sentinels: ["redis://:p4ss@a", "rediss://b"] }, "sentinels"],
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
