import { afterEach, expect, test } from "@jest/globals";
import {
  createApplicationInputHandler,
  resultFromTaskOutcome,
  type TaskEnabledSession,
  withTasks,
} from "@modelcontextprotocol/ext-tasks/client";
import { taskSessionPort } from "../src/session-port.ts";
import { atEnd, connections, endAll, eventually, serve } from "./serve.ts";

afterEach(endAll);

const refuse = (): never => {
  throw new Error("not here");
};

test.each(connections)("the session of ext-tasks runs over it: $name", async ({ modern, open }) => {
  const served = await serve({ wires: ["2026-07-28", "2025-11-25", "none"] });
  const port = taskSessionPort(await open(served), { endpointId: "test" });
  expect(port.taskCapabilities.generation).toBe(modern ? "v2" : "v1");
  const session: TaskEnabledSession = withTasks(port, {
    onInputRequest: createApplicationInputHandler({
      elicitation: () => ({ action: "accept", content: { ok: true } }),
      sampling: refuse,
      roots: refuse,
    }),
  });
  atEnd(() => session.close());
  const run = async (name: string, begun: () => void = () => {}): Promise<string> => {
    const execution = await session.callTool(name, {}, { task: { preference: "prefer" } });
    begun();
    return JSON.stringify(resultFromTaskOutcome((await execution.settle()).outcome));
  };
  expect(await run("ask")).toContain(String.raw`{\"answered\":{\"ok\":true}}`);
  expect(
    await run(
      "job",
      () => void eventually(() => served.backend.starts() === 2).then(() => served.backend.of().succeed({ done: 6 })),
    ),
  ).toContain(String.raw`{\"done\":6}`);
  await expect(session.callTool("jbo")).rejects.toMatchObject({ code: -32_602 });
});
