import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { isTaskClientError, type SdkClient, taskClient } from "../src/index.ts";
import type { SdkTransport } from "../src/sdk-client.ts";
import { core, modern, scriptedClient } from "./scripted-client.ts";
import { connections, endAll, eventually, firstOverHttp, jsonOf, restartable, serve } from "./serve.ts";

afterEach(endAll);

const handlersOf = (client: SdkClient): readonly unknown[] => {
  const { onmessage, onclose, onerror } = client.transport as unknown as SdkTransport;
  return [onmessage, onclose, onerror];
};

describe("close", () => {
  test.each(connections)("ends the waits and leaves the client as it was: $name", async ({ open }) => {
    const served = await serve({ wires: ["2026-07-28", "2025-11-25", "none"] });
    const client = await open(served);
    const before = handlersOf(client);
    const calls = taskClient(client);
    const pending = calls.beginCall("job");
    const taskId = (await pending.created) ?? "";
    const inspections = calls.watch(taskId);
    await inspections.next();
    const inspect = inspections.next().catch((error: unknown) => error);
    await calls.close();
    await expect(pending.result()).rejects.toMatchObject({ code: "detached", taskId });
    expect(isTaskClientError(await inspect, "detached")).toBe(true);
    expect(handlersOf(client)).toEqual(before);
    await expect(calls.read(taskId)).rejects.toMatchObject({ code: "detached" });
    expect(served.backend.of().cancels).toEqual([]);
    const again = taskClient(client).resume(taskId);
    served.backend.of().succeed({ done: 1 });
    expect(await jsonOf(again)).toEqual({ done: 1 });
  });

  test("of one of two on a client: the other goes on", async () => {
    const client = scriptedClient({ ...core, answer: () => ({ taskId: "t-1", status: "working" }) });
    const before = handlersOf(client);
    const [first, second] = [taskClient(client), taskClient(client)];
    await first.close();
    expect(await second.read("t-1")).toMatchObject({ status: "working" });
    await second.close();
    expect(handlersOf(client)).toEqual(before);
  });

  test("gives up what is tried again", async () => {
    const client = scriptedClient({
      ...modern,
      answer: () => {
        throw new TypeError("fetch failed");
      },
    });
    const calls = taskClient(client);
    const read = calls.read("t-1").catch((error: unknown) => error);
    await eventually(() => client.sent.length > 0);
    await calls.close();
    expect(isTaskClientError(await read, "detached")).toBe(true);
  });

  test("a client that is replaced is closed, and the one that `reconnect` gave with it", async () => {
    const served = await restartable(() => ({ wires: ["2025-11-25", "none"], stateKey: randomBytes(32) }));
    const closed: string[] = [];
    const open = async (name: string): Promise<SdkClient> => {
      const client = await firstOverHttp(served.url);
      const close = client.close.bind(client);
      client.close = () => {
        closed.push(name);
        return close();
      };
      return client;
    };
    const calls = taskClient(await open("first"), { reconnect: () => open("second") });
    const taskId = (await calls.beginCall("job").created) ?? "";
    await served.restart();
    expect(await calls.read(taskId)).toMatchObject({ taskId });
    await eventually(() => closed.length === 1);
    expect(closed).toEqual(["first"]);
    await calls.close();
    expect(closed).toEqual(["first", "second"]);
  });
});
