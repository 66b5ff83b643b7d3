import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { type SdkClient, type TaskClientError, taskClient } from "../src/index.ts";
import { endAll, eventually, firstOverHttp, jsonOf, restartable, secondOverHttp, serve } from "./serve.ts";

afterEach(endAll);

const wires = ["2026-07-28", "2025-11-25", "sep-1686", "none"] as const;

describe.each<[string, (url: string) => Promise<SdkClient>]>([
  ["SDK 1", firstOverHttp],
  ["SDK 2", (url) => secondOverHttp(url, "legacy")],
])("a server that is started anew, and has lost the key of its sessions: %s", (_name, connect) => {
  test.each([["2025-11-25"], ["sep-1686"]] as const)(
    "the session is opened again, and the task goes on (%s)",
    async (wire) => {
      const served = await restartable(() => ({ wires, stateKey: randomBytes(32) }));
      let connects = 0;
      const troubles: TaskClientError[] = [];
      const open = (): Promise<SdkClient> => {
        connects++;
        return connect(served.url);
      };
      const calls = taskClient(await open(), {
        wire,
        reconnect: open,
        onUnreachable: (error) => void troubles.push(error),
      });
      const pending = calls.beginCall("job");
      const taskId = await pending.created;
      await eventually(() => pending.task?.status === "working");
      await served.restart();
      await eventually(() => connects === 2);
      served.backend().of().succeed({ done: 3 });
      expect(await jsonOf(pending)).toEqual({ done: 3 });
      expect(pending.taskId).toBe(taskId);
      expect(served.backend().starts()).toBe(1);
      // While it was down, a look may have failed; that it is up again ends that.
      expect(troubles.filter(({ code }) => code !== "unreachable")).toEqual([]);
    },
  );

  test("without `reconnect` it is said, and the task can be resumed", async () => {
    const served = await restartable(() => ({ wires, stateKey: randomBytes(32) }));
    const pending = taskClient(await connect(served.url), { wire: "2025-11-25" }).beginCall("job");
    const taskId = (await pending.created) ?? "";
    await served.restart();
    await expect(pending.result()).rejects.toMatchObject({ code: "session_lost", taskId });
    const resumed = taskClient(await connect(served.url)).resume(taskId);
    served.backend().of().succeed({ done: 4 });
    expect(await jsonOf(resumed)).toEqual({ done: 4 });
  });

  test("with its key, the session goes on", async () => {
    const served = await restartable(() => ({ wires }));
    const pending = taskClient(await connect(served.url), { wire: "2025-11-25" }).beginCall("job");
    await pending.created;
    await served.restart();
    served.backend().of().succeed({ done: 5 });
    expect(await jsonOf(pending)).toEqual({ done: 5 });
  });
});

test("a server that cannot be reached is told of once, and then given up", async () => {
  const { server, url } = await serve({ wires, store: memoryStore() });
  const troubles: TaskClientError[] = [];
  const calls = taskClient(await secondOverHttp(url, "auto"), {
    retryForMs: 0,
    onUnreachable: (error) => void troubles.push(error),
  });
  const pending = calls.beginCall("job");
  const taskId = await pending.created;
  await server.close();
  await expect(pending.result()).rejects.toMatchObject({ code: "unreachable", taskId });
  expect(troubles).toHaveLength(1);
});
