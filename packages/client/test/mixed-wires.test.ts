import { afterEach, describe, expect, test } from "@jest/globals";
import { taskClient } from "../src/index.ts";
import { connections, endAll, eventually, jsonOf, serve } from "./serve.ts";

afterEach(endAll);

const wires = ["2026-07-28", "2025-11-25", "sep-1686", "none"] as const;

describe.each(connections.filter(({ modern }) => !modern))("one session, both kinds of IDs: $name", ({ open }) => {
  const begin = async () => {
    const served = await serve({ wires });
    const calls = taskClient(await open(served));
    expect(calls.wire).toBe("2025-11-25");
    const theirs = calls.beginCall("job");
    const theirId = (await theirs.created) ?? "";
    const mine = calls.beginCall("job", {}, { taskId: "mine-a" });
    expect(await mine.created).toBe("mine-a");
    await eventually(() => served.backend.starts() === 2);
    return { ...served, calls, theirs, theirId, mine };
  };

  test("each task is read and cancelled by the call that began it", async () => {
    const { theirs, mine, backend } = await begin();
    await theirs.cancel();
    await mine.cancel();
    await expect(theirs.result()).rejects.toMatchObject({ code: "cancelled" });
    await expect(mine.result()).rejects.toMatchObject({ code: "cancelled", taskId: "mine-a" });
    await eventually(() => backend.callsOf("cancel").length === 2);
  });

  test("each task is read and cancelled by its ID", async () => {
    const { calls, theirs, theirId, mine, backend } = await begin();
    theirs.detach();
    mine.detach();
    for (const taskId of [theirId, "mine-a"]) {
      expect(await calls.read(taskId)).toMatchObject({ taskId, status: expect.stringMatching(/submitted|working/) });
      const resumed = calls.resume(taskId);
      await resumed.cancel();
      await expect(resumed.result()).rejects.toMatchObject({ code: "cancelled", taskId });
    }
    await eventually(() => backend.callsOf("cancel").length === 2);
  });

  test("a call without an ID of its own is a task of 2025-11-25 after one with", async () => {
    const { calls, backend, mine } = await begin();
    mine.detach();
    const later = calls.beginCall("quick");
    expect(await jsonOf(later)).toEqual({ quick: true });
    expect(await later.created).toEqual(expect.any(String));
    expect(backend.starts()).toBe(3);
  });
});
