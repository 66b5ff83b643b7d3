import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { describeRedis, type RedisBench, redisBench, until } from "../redis-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

const tool = (name: string, target = `{ queue: reports, job: ${name} }`): string => `
  - { name: ${name}, adapter: queues, target: ${target}, input: { type: object }, task: { pollIntervalMs: 250 } }`;

const yaml = (url: string, prefix: string): string => `
store: sqlite:./tasks.db
adapters:
  queues: { use: bullmq, url: "${url}", prefix: ${prefix} }
  local: { use: process, directory: ./jobs }
tools:
  - { name: here, adapter: local, target: { command: [echo, done] } }${["shows", "nothing", "huge", "bigint"].map((name) => tool(name)).join("")}${tool("alone", "{ queue: nobody, job: alone }")}${tool("small", "{ queue: reports, job: nothing, options: { sizeLimit: 100 } }")}
`;

const readiness = async (url: string): Promise<unknown> => (await fetch(new URL("/readyz", url))).json();

const ended = (client: TaskClient, taskId: string): Promise<SeenTask> =>
  until(
    "the task ends",
    async () => {
      const task = await client.get(taskId);
      return task.status === "working" ? undefined : task;
    },
    30_000,
  );

/** Calls a tool to its end. A job that is done at once is answered without a task. */
const runToEnd = async (
  client: TaskClient,
  name: string,
  args: object = {},
): Promise<Pick<SeenTask, "status" | "result">> => {
  const { result = {} } = await client.request("tools/call", { name, arguments: args });
  if (typeof result.taskId === "string") return ended(client, result.taskId);
  return { status: "completed", result: result as unknown as NonNullable<SeenTask["result"]> };
};

const textOf = ({ result }: Pick<SeenTask, "result">): string => result?.content[0]?.text ?? "";

describeRedis(
  "a server whose Redis",
  () => {
    let bench: RedisBench;
    let folder: ServedFolder;
    let served: Served;
    let client: TaskClient;
    beforeAll(async () => {
      bench = await redisBench({ appendOnly: true, flags: ["--appendfsync", "always"] });
      await bench.server?.kill();
      folder = await servedFolder(yaml(bench.url, bench.prefix));
      served = await folder.serve();
      client = taskClient(served.url);
    }, 60_000);
    afterAll(async () => {
      await served?.stop();
      await folder?.close();
      await bench?.close();
    });

    it("is not there at boot comes up all the same, tells so, and needs no restart when it comes", async () => {
      expect(textOf(await runToEnd(client, "here"))).toBe("done\n");
      const waiting = await client.start("nothing");
      expect(waiting.status).toBe("working");
      await until("readiness tells", async () => {
        const reported = (await readiness(served.url)) as { readonly unavailable: readonly string[] };
        return reported.unavailable.includes("queues") || undefined;
      });
      const { code, stdout } = await folder.runHere("doctor");
      expect([code, stdout]).toEqual([1, expect.stringMatching(/error +adapters\.queues\.url: .*ECONNREFUSED/)]);

      await bench.server?.restart();
      await bench.workAlone("plain", { concurrency: 1 });
      expect(await ended(client, waiting.taskId)).toMatchObject({ status: "completed" });
      const isReady = async () => {
        const reported = (await readiness(served.url)) as {
          readonly ready: boolean;
          readonly unavailable: readonly string[];
        };
        return reported.ready && reported.unavailable.length === 0;
      };
      await until("readiness tells", async () => (await isReady()) || undefined);
      expect(await folder.runHere("doctor")).toMatchObject({ code: 0 });
    }, 60_000);

    it("is gone in the middle shows the last state as old, and goes on by itself", async () => {
      const { taskId } = await client.start("shows", { progress: { done: 1, total: 3, message: "page 1" }, ms: 2_000 });
      await until("its progress shows", async () => {
        const { statusMessage } = await client.get(taskId);
        return statusMessage === "1 of 3: page 1" || undefined;
      });
      await bench.server?.kill();
      const old = await until("it is marked", async () => {
        const { status, statusMessage } = await client.get(taskId);
        return statusMessage?.includes("as of") ? { status, statusMessage } : undefined;
      });
      expect(old).toEqual({
        status: "working",
        statusMessage: expect.stringMatching(/^1 of 3: page 1; as of \d{4}-\S+Z: the backend does not answer$/),
      });
      expect(textOf(await runToEnd(client, "here"))).toBe("done\n");
      await bench.server?.restart();
      const done = await ended(client, taskId);
      expect([done.status, done.statusMessage ?? ""]).toEqual(["completed", expect.not.stringContaining("as of")]);
    }, 60_000);

    it("wants another password: the call says so, without showing one, and so does doctor", async () => {
      await bench.redis.config("SET", "requirepass", "right");
      const url = bench.url.replace("redis://", "redis://:wrong-secret@");
      const locked = await servedFolder(yaml(url, bench.prefix));
      try {
        const other = await locked.serve();
        const answer = await taskClient(other.url).request("tools/call", { name: "nothing", arguments: {} });
        expect(answer.result).toMatchObject({
          isError: true,
          content: [{ text: expect.stringMatching(/denied: Redis refuses: WRONGPASS$/) }],
        });
        const { code, stdout, stderr } = await locked.runHere("doctor");
        expect([code, stdout]).toEqual([1, expect.stringContaining("WRONGPASS")]);
        expect(JSON.stringify([answer, stdout, stderr, other.log()])).not.toContain("wrong-secret");
        await other.stop();
      } finally {
        await bench.redis.config("SET", "requirepass", "");
        await locked.close();
      }
    }, 60_000);

    describe("is well, and whose jobs are not:", () => {
      it("one that nobody takes is queued, with the number of workers there are", async () => {
        const alone = await client.start("alone");
        expect(await client.get(alone.taskId)).toMatchObject({
          status: "working",
          statusMessage: "no worker is connected to the queue",
        });
        const busy = await client.start("shows", { progress: 1, ms: 1_500 });
        const next = await client.start("nothing");
        await until("it waits for the worker", async () => {
          const { statusMessage } = await client.get(next.taskId);
          return statusMessage === "waits for one of 1 connected workers" || undefined;
        });
        await ended(client, busy.taskId);
        expect(await ended(client, next.taskId)).toMatchObject({ status: "completed" });
        await client.request("tasks/cancel", { taskId: alone.taskId });
      }, 30_000);

      it("arguments over the limit are refused by their size, and start nothing", async () => {
        const before = await bench.added();
        const call = { name: "small", arguments: { text: "x".repeat(200) } };
        const { result } = await client.request("tools/call", call);
        expect(result).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining("invalid_input: the input has 211 bytes, at most 100") }],
        });
        expect(await bench.added()).toEqual(before);
      });

      it("results that are nothing, huge, or none of JSON are told as what they are", async () => {
        const nothing = await runToEnd(client, "nothing");
        expect(nothing).toMatchObject({ status: "completed", result: { isError: false } });

        const huge = await runToEnd(client, "huge", { length: 400_000 });
        expect(huge).toMatchObject({ status: "completed", result: { isError: false } });
        expect(JSON.stringify(huge).length).toBeLessThan(200_000);
        const link = huge.result?.content.find(({ type }) => type === "resource_link");
        const { result } = await client.request("resources/read", { uri: link?.uri });
        expect(JSON.stringify(result)).toContain("éééé");

        const unserializable = await runToEnd(client, "bigint");
        expect(unserializable).toMatchObject({ status: "completed", result: { isError: true } });
        expect(textOf(unserializable)).toContain("BigInt");

        // As a worker in another language may leave it.
        const { taskId } = await client.start("alone");
        const queue = bench.queue.toKey("").replace("reports", "nobody");
        const id = (await bench.redis.lindex(`${queue}wait`, 0)) ?? "";
        await bench.redis
          .multi()
          .lrem(`${queue}wait`, 0, id)
          .hset(`${queue}${id}`, { returnvalue: "done {", finishedOn: String(Date.now()) })
          .zadd(`${queue}completed`, Date.now(), id)
          .exec();
        const text = await ended(client, taskId);
        expect([text.status, textOf(text)]).toEqual(["completed", "done {"]);
      }, 60_000);
    });
  },
  true,
);
