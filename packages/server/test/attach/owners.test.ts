import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { createMcpHandler } from "@modelcontextprotocol/server";
import * as z from "zod";
import { type AttachOptions, attachTasks, type TaskServer } from "../../src/index.ts";
import { start, stopAll } from "../serve.ts";
import { connectHttp, connectLinked, createClient, hangUp, serveSessions, serveStateless } from "./connect-v1.ts";
import { callByFetch, connectFetch, connectPipe, openPipe, serveSessionsV2 } from "./connect-v2.ts";
import { createHostV1 } from "./host-v1.ts";
import { createHostV2 } from "./host-v2.ts";
import { ourFake, ourTools } from "./our-pipelines.ts";
import { outcomeOf } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

const makerV1 = (tasks: TaskServer, options: AttachOptions) => () => {
  const host = createHostV1();
  attachTasks(host, tasks, options);
  return host;
};
const makerV2 = (tasks: TaskServer, options: AttachOptions) => () => {
  const host = createHostV2();
  attachTasks(host, tasks, options);
  return host;
};
const authOf = (sub: string) => ({ token: "t", clientId: "app", scopes: [], extra: { sub } });

type Connect = (tasks: TaskServer, options: AttachOptions) => Promise<(client: Client, who?: string) => Promise<void>>;

const overHttp: Readonly<Record<string, Connect>> = {
  "SDK v1, in sessions": async (tasks, options) => {
    const url = await serveSessions(makerV1(tasks, options));
    return (client, who) => connectHttp(url, client, who);
  },
  "SDK v1, without sessions": async (tasks, options) => {
    const url = await serveStateless(makerV1(tasks, options));
    return (client, who) => connectHttp(url, client, who);
  },
  "SDK v2, in sessions": async (tasks, options) => {
    const fetch = serveSessionsV2(makerV2(tasks, options));
    return (client, who) => connectFetch(fetch, client, who === undefined ? undefined : authOf(who));
  },
  "SDK v2, without sessions": async (tasks, options) => {
    const { fetch } = createMcpHandler(makerV2(tasks, options));
    return (client, who) => connectFetch(fetch, client, who === undefined ? undefined : authOf(who));
  },
};

const overPipes: Readonly<
  Record<string, (tasks: TaskServer, client: Client, options?: AttachOptions) => Promise<unknown>>
> = {
  "SDK v1": (tasks, client, options = {}) => connectLinked(makerV1(tasks, options)(), client),
  "SDK v2": (tasks, client, options = {}) => connectPipe(makerV2(tasks, options), client),
};

const createTask = async (client: Client, name = "our-slow"): Promise<string> => {
  const schema = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
  const { task } = await client.request({ method: "tools/call", params: { name, arguments: {}, task: {} } }, schema);
  return task.taskId;
};
const idsOf = async (client: Client): Promise<readonly string[]> =>
  (await client.experimental.tasks.listTasks()).tasks.map(({ taskId }) => taskId);
const readerOf = (client: Client) => async (taskId: string) => outcomeOf(client.experimental.tasks.getTask(taskId));
const result = (taskId: string): { uri: string } => ({ uri: `taskbridge://tasks/${taskId}/result` });

describe("[B-1] [B-25] owners of tasks in somebody else's server over HTTP", () => {
  test.each(Object.keys(overHttp))("verified callers see their own alone: %s", async (kind) => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const connect = await overHttp[kind]?.(server, {});
    const [ada, bob, adaAgain] = [createClient(), createClient(), createClient()];
    await connect?.(ada, "ada");
    await connect?.(bob, "bob");
    await connect?.(adaAgain, "ada");
    const [hers, quick, his] = [await createTask(ada), await createTask(ada, "our-quick"), await createTask(bob)];
    expect([...(await idsOf(ada))].sort()).toEqual([hers, quick].sort());
    expect([...(await idsOf(adaAgain))].sort()).toEqual([hers, quick].sort());
    expect(await idsOf(bob)).toEqual([his]);
    const unknown = await readerOf(bob)("nope");
    expect(await readerOf(bob)(hers)).toEqual(unknown);
    expect(await outcomeOf(bob.experimental.tasks.cancelTask(hers))).toEqual(unknown);
    // SDK 2 gives this error the code of its own revision.
    const code = kind.startsWith("SDK v1") ? -32_002 : -32_602;
    const foreign = await outcomeOf(bob.readResource(result(quick)));
    expect(foreign).toMatchObject({ code, message: expect.stringContaining("Resource not found") });
    expect(await ada.readResource(result(quick))).toMatchObject({
      contents: [{ text: expect.stringContaining("14") }],
    });
    expect(await readerOf(adaAgain)(hers)).toMatchObject({ status: "working" });
  });

  test.each(Object.keys(overHttp))(
    "callers who are not told apart have nothing to list, and IDs that grant access: %s",
    async (kind) => {
      const { server } = await start({ tools: ourTools, fake: ourFake });
      const connect = await overHttp[kind]?.(server, {});
      const [one, other] = [createClient(), createClient()];
      await connect?.(one);
      await connect?.(other);
      const taskId = await createTask(one);
      expect(await outcomeOf(one.experimental.tasks.listTasks())).toMatchObject({ code: -32_601 });
      expect(await readerOf(other)(taskId)).toMatchObject({ status: "working" });
      expect(await other.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: "cancelled" });
    },
  );

  test.each(Object.keys(overHttp))(
    "a list is not declared where the host says that there are none: %s",
    async (kind) => {
      const { server } = await start({ tools: ourTools, fake: ourFake });
      const connect = await overHttp[kind]?.(server, { owners: "none" });
      const client = createClient();
      await connect?.(client);
      expect(client.getServerCapabilities()?.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
      expect(await outcomeOf(client.experimental.tasks.listTasks())).toMatchObject({ code: -32_601 });
    },
  );

  test("on 2026-07-28 verified callers see their own alone, others by ID", async () => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const { fetch } = createMcpHandler(makerV2(server, {}));
    const statusFor = async (taskId: unknown, who?: string): Promise<unknown> => {
      const answer = (
        await callByFetch(fetch, who === undefined ? undefined : authOf(who))("tasks/get", { taskId })
      ).at(-1);
      return answer?.result?.status ?? answer?.error?.code;
    };
    const created = async (who?: string) =>
      (await callByFetch(fetch, who === undefined ? undefined : authOf(who))("tools/call", { name: "our-slow" }))[0]
        ?.result?.taskId;
    const hers = await created("ada");
    expect([await statusFor(hers, "ada"), await statusFor(hers, "bob"), await statusFor(hers)]).toEqual([
      "working",
      -32_602,
      -32_602,
    ]);
    const nobodys = await created();
    expect([await statusFor(nobodys), await statusFor(nobodys, "ada")]).toEqual(["working", -32_602]);
  });
});

describe("owners of tasks in somebody else's server over pipes", () => {
  test.each(Object.keys(overPipes))("whoever is at the other end owns everything local: %s", async (kind) => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const [one, later] = [createClient(), createClient()];
    await overPipes[kind]?.(server, one);
    const taskId = await createTask(one);
    await overPipes[kind]?.(server, later);
    expect(await idsOf(later)).toEqual([taskId]);
    const none = createClient();
    await overPipes[kind]?.(server, none, { owners: "none" });
    expect(none.getServerCapabilities()?.tasks).not.toHaveProperty("list");
    expect(await readerOf(none)(taskId)).toMatchObject({ code: -32_602 });
  });

  test("on 2026-07-28 too", async () => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const client = createClient();
    await overPipes["SDK v1"]?.(server, client);
    const taskId = await createTask(client);
    const { call, close } = await openPipe(makerV2(server, {}));
    expect((await call("tasks/get", { taskId })).at(-1)?.result).toMatchObject({ status: "working" });
    await close();
  });
});
