import { expect, it } from "@jest/globals";
import { toNode } from "../../src/redis/redis-client.ts";

it.each([
  ["redis://127.0.0.1:7000", { host: "127.0.0.1", port: 7000 }],
  ["rediss://user:pw@redis.example.com", { host: "redis.example.com", port: 6379 }],
  ["redis://[::1]:7000", { host: "::1", port: 7000 }],
])("a node to begin with is taken from %s", (url, node) => {
  expect(toNode(url)).toEqual(node);
});
