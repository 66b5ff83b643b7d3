import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { wire2025 } from "../raw-wire.ts";
import { createWorkbench, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

test("a session of 2025-11-25 goes on at another process on the same store when its own was killed", async () => {
  const [first, second] = [await bench.serve(), await bench.serveHere()];
  const atFirst = await wire2025(first.url);
  const { result } = await atFirst.request("tools/call", { name: "wait", arguments: { file: "go" }, task: {} });
  const { taskId } = (result?.["task"] ?? {}) as { readonly taskId?: string };
  const exited = once(first.child, "exit");
  first.kill("SIGKILL");
  await exited;
  const atSecond = atFirst.at(second.url);
  expect((await atSecond.request("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
  const wait = atSecond.request("tasks/result", { taskId });
  bench.release("go");
  expect((await wait).result).toMatchObject({ isError: false, content: [{ text: '{"waited":true}' }] });
  const echoed = await atSecond.request("tools/call", { name: "echo", arguments: { text: "hi" } });
  expect(echoed.result).toMatchObject({ isError: false, content: [{ text: '{"text":"hi"}' }] });
});
