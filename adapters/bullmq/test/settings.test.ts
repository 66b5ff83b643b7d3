import { describe, expect, it } from "@jest/globals";
import { isBridgeError } from "@taskbridge/core/adapter";
import { createAdapter } from "../src/index.ts";
import { parseOptions } from "../src/settings/parse-options.ts";
import { parseTarget } from "../src/settings/parse-target.ts";

const pathOf = (action: () => unknown): unknown => {
  try {
    action();
  } catch (error) {
    if (isBridgeError(error) && error.code === "misconfigured") return error.data?.path;
    throw error;
  }
  return undefined;
};

describe("options", () => {
  it("have defaults", () => {
    expect(parseOptions({})).toEqual({
      connection: "redis://127.0.0.1:6379",
      queues: [],
      prefix: "bull",
      jobOptions: {},
    });
  });

  it.each([
    [{ redis: "x" }, "redis"],
    [{ url: "http://127.0.0.1" }, "url"],
    [{ url: 7 }, "url"],
    [{ url: "redis://" }, "url"],
    [{ url: "redis://a", connection: {} }, "connection"],
    [{ connection: "http://a" }, "connection"],
    [{ connection: 6379 }, "connection"],
    [{ connection: { url: "http://a" } }, "connection.url"],
    [{ connection: { url: 7 } }, "connection.url"],
    [{ prefix: "" }, "prefix"],
    [{ queues: {} }, "queues"],
    [{ queues: [{}] }, "queues"],
    [{ jobOptions: [] }, "jobOptions"],
    [{ jobOptions: { removeOnComplete: true } }, "jobOptions.removeOnComplete"],
    [{ jobOptions: { attempts: 0 } }, "jobOptions.attempts"],
  ])("%j are refused", (options, path) => {
    expect(pathOf(() => createAdapter(options, { baseDirectory: "/" }))).toBe(path);
  });

  it("never show the address they were given, which may hold a password", () => {
    expect(() => parseOptions({ url: "http://:secret@127.0.0.1" })).toThrow(/^(?!.*secret)/);
  });
});

describe("a target", () => {
  it("has the queue's name for a job without one", () => {
    expect(parseTarget({ queue: "reports" })).toEqual({ queue: "reports", job: "reports" });
  });

  it("may hold templates, also for numbers, which are texts once filled", () => {
    const target = parseTarget({
      queue: "{{input.team}}",
      job: "build",
      options: { priority: "{{input.priority}}", deduplication: { id: "{{input.customer}}" } },
    });
    expect(parseTarget(target)).toEqual(target);
    expect(parseTarget({ queue: "q", options: { priority: "7", delay: "0" } }).options).toEqual({
      priority: 7,
      delay: 0,
    });
  });

  it.each([
    [undefined, ""],
    [[], ""],
    [{}, "queue"],
    [{ queue: "" }, "queue"],
    [{ queue: "a:b" }, "queue"],
    [{ queue: "a", job: 7 }, "job"],
    [{ queue: "a", data: {} }, "data"],
    [{ queue: "a", options: 7 }, "options"],
    [{ queue: "a", options: { jobId: "x" } }, "options.jobId"],
    [{ queue: "a", options: { repeat: {} } }, "options.repeat"],
    [{ queue: "a", options: { removeOnFail: { count: 1 } } }, "options.removeOnFail"],
    [{ queue: "a", options: { attempts: 1.5 } }, "options.attempts"],
    [{ queue: "a", options: { attempts: "many" } }, "options.attempts"],
    [{ queue: "a", options: { priority: 2 ** 21 } }, "options.priority"],
    [{ queue: "a", options: { priority: "{{priority}}" } }, "options.priority"],
    [{ queue: "a", options: { delay: -1 } }, "options.delay"],
    [{ queue: "a", options: { backoff: { delay: 5 } } }, "options.backoff.type"],
    [{ queue: "a", options: { backoff: { type: "fixed", jitter: 2 } } }, "options.backoff.jitter"],
    [{ queue: "a", options: { backoff: { type: "fixed", every: 2 } } }, "options.backoff.every"],
    [{ queue: "a", options: { deduplication: { id: "" } } }, "options.deduplication.id"],
    [{ queue: "a", options: { deduplication: { id: "x", replace: true } } }, "options.deduplication.replace"],
    [{ queue: "a", options: { deduplication: { id: "x", ttl: 0 } } }, "options.deduplication.ttl"],
    [{ queue: "a", options: { lifo: "yes" } }, "options.lifo"],
    [{ queue: "a", options: { sizeLimit: 0 } }, "options.sizeLimit"],
  ])("%j is refused", (target, path) => {
    expect(pathOf(() => parseTarget(target))).toBe(path);
  });
});
