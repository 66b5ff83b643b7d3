import { inspect } from "node:util";
import { expect, it } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/store";
import { toError } from "../../src/redis/to-error.ts";

const reply = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });

it.each([
  [reply("NOAUTH Authentication required."), "misconfigured", "wants a password"],
  [reply("WRONGPASS invalid username-password pair or user is disabled."), "misconfigured", "WRONGPASS"],
  [reply("NOPERM this user has no permissions to run the 'eval' command"), "misconfigured", "does not permit"],
  [reply("READONLY You can't write against a read only replica."), "unavailable", "is a replica at present"],
  // From a script of Redis 6.
  [
    reply(
      "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write against a read only replica.",
    ),
    "unavailable",
    "is a replica at present",
  ],
  [
    reply(
      "ERR Error running script (call to f_1): @user_script:9: -OOM command not allowed when used memory > 'maxmemory'.",
    ),
    "unavailable",
    "has no memory left",
  ],
  [reply("OOM command not allowed when used memory > 'maxmemory'."), "unavailable", "has no memory left"],
  [reply("LOADING Redis is loading the dataset in memory"), "unavailable", "is loading its data"],
  [reply("BUSY Redis is busy running a script."), "unavailable", "is busy"],
  [reply("MISCONF Redis is configured to save RDB snapshots"), "unavailable", "cannot write to its disk"],
  [reply("NOREPLICAS Not enough good replicas to write."), "unavailable", "too few replicas"],
  [reply("CLUSTERDOWN The cluster is down"), "unavailable", "lost a part of its cluster"],
  [
    new Error("Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:1"),
    "unavailable",
    "moving keys",
  ],
  [reply("CROSSSLOT Keys in request don't hash to the same slot"), "misconfigured", "is a cluster"],
  [reply("WRONGTYPE Operation against a key holding the wrong kind of value"), "misconfigured", "another prefix"],
  [reply("ERR unknown command 'EVALSHA'"), "internal", "unknown command"],
  [new Error("connect ECONNREFUSED 127.0.0.1:6379"), "unavailable", "cannot be reached: connect ECONNREFUSED"],
  [new Error("Connection is closed."), "unavailable", "the connection was lost"],
  [new Error("Reached the max retries per request limit (which is 0)."), "unavailable", "the connection was lost"],
])("tells operators what %s means", (error, code, part) => {
  const reported = toError(error, "redis:6379", "read");
  expect([reported.code, reported.operation]).toEqual([code, "read"]);
  expect(reported.message).toContain("Redis at redis:6379");
  expect(reported.message).toContain(part);
});

it("leaves out the command, which may hold a password, and passes on what is told already", () => {
  const error = Object.assign(reply("WRONGPASS no"), {
    command: { name: "hello", args: ["3", "AUTH", "u", "s3cret"] },
  });
  expect(inspect(toError(error, "redis:6379", "open"), { depth: 10 })).not.toContain("s3cret");
  const known = new BridgeError("conflict", "taken");
  expect(toError(known, "redis:6379", "create")).toBe(known);
});
