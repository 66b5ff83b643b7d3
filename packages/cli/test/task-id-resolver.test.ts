import { describe, expect, test } from "@jest/globals";
import { BridgeError, type TaskView } from "@taskbridge/core";
import { CliError } from "../src/cli-error.ts";
import { taskIdResolver } from "../src/task-id-resolver.ts";

const notFound = new BridgeError("not_found", "Task not found");

/** A store with these IDs, newest first, that knows tasks by their full IDs only. */
const storeOf = (taskIds: readonly string[]) => {
  let lists = 0;
  const list = async (_access: unknown, _filter: unknown, cursor: string | undefined, limit: number) => {
    lists += 1;
    const from = Number(cursor ?? 0);
    const tasks = taskIds.slice(from, from + limit).map((taskId) => ({ record: { taskId } }) as TaskView);
    return { tasks, ...(from + limit < taskIds.length ? { cursor: String(from + limit) } : {}) };
  };
  const read = async (taskId: string): Promise<string> => {
    if (!taskIds.includes(taskId)) throw notFound;
    return taskId;
  };
  return { ids: taskIdResolver({ listTasks: list }), read, lists: () => lists };
};

const many = Array.from({ length: 10_000 }, (_, index) => `a~${index}`);

describe("an ID that a client minted", () => {
  test("is looked for once, however often it is said", async () => {
    const { ids, read, lists } = storeOf(["a~x", "a~y", "b~x-1"]);
    expect(await ids.act("y", read)).toBe("a~y");
    expect(await ids.act("y", read)).toBe("a~y");
    expect(lists()).toBe(1);
  });

  test("is not looked for where there is such a task, or the full one was said", async () => {
    const { ids, read, lists } = storeOf(["x", "a~x"]);
    expect(await ids.act("x", read)).toBe("x");
    await expect(ids.act("b~x", read)).rejects.toBe(notFound);
    expect(lists()).toBe(0);
  });

  test("of a task that has expired, or that fails otherwise, is left as it is", async () => {
    const { ids, lists } = storeOf(["a~x"]);
    const expired = new BridgeError("not_found", "Task has expired", { data: { expired: true } });
    for (const error of [expired, new BridgeError("unavailable", "locked")]) {
      await expect(ids.act("x", () => Promise.reject(error))).rejects.toBe(error);
    }
    expect(lists()).toBe(0);
  });

  test("is looked for in the newest 10,000 tasks", async () => {
    const all = storeOf(many);
    expect(await all.ids.act("9999", all.read)).toBe("a~9999");
    await expect(all.ids.act("nobodys", all.read)).rejects.toBe(notFound);
    const more = storeOf([...many, "a~old"]);
    await expect(more.ids.act("old", more.read)).rejects.toThrow(
      "only the newest 10000 tasks were looked through for a task old: give its full ID, OWNER~old",
    );
    // Whether another owner has the same is not known.
    await expect(more.ids.act("5", more.read)).rejects.toThrow("give its full ID, a~5, if that is the one");
    expect(more.lists()).toBe(200);
  });

  test("of several owners is a usage error that tells the full ones", async () => {
    const { ids, read } = storeOf(["a~x", "b~y", "b~x"]);
    const error = await ids.act("x", read).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: 2, message: "several owners have a task x; choose one:\n  a~x\n  b~x" });
  });
});
