import { afterEach, describe, expect, test } from "@jest/globals";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type GivenAnswer, type Question, taskClient } from "../src/index.ts";
import { connections, endAll, eventually, firstOverHttp, jsonOf, secondOverHttp, serve } from "./serve.ts";

afterEach(endAll);

const wires = ["2026-07-28", "2025-11-25", "sep-1686", "none"] as const;
const accepted: GivenAnswer = { action: "accept", content: { ok: true } };

test.each(connections)(
  "an answer that the server refuses is asked for again, with the reason: $name",
  async ({ open }) => {
    const served = await serve({ wires });
    const refusals: unknown[] = [];
    const pending = taskClient(await open(served)).beginCall(
      "ask",
      {},
      {
        onQuestion: (_question, { refusal }) => {
          refusals.push(refusal);
          return refusals.length === 1 ? { action: "accept", content: { ok: "perhaps" } } : accepted;
        },
      },
    );
    expect(await jsonOf(pending)).toEqual({ answered: { ok: true } });
    expect(refusals).toHaveLength(2);
  },
);

test("whoever is asked is told when somebody else has answered", async () => {
  const served = await serve({ wires });
  const first = taskClient(await secondOverHttp(served.url, "auto"));
  let isOpen = false;
  let isLeftAlone = false;
  const pending = first.beginCall(
    "ask",
    {},
    {
      onQuestion: (_question, { signal }) =>
        new Promise(() => {
          isOpen = true;
          signal.addEventListener("abort", () => {
            isLeftAlone = true;
          });
        }),
    },
  );
  await eventually(() => isOpen);
  const second = taskClient(await secondOverHttp(served.url, "auto"));
  const taskId = pending.taskId ?? "";
  const { questions } = await second.read(taskId);
  expect(questions).toEqual([{ key: expect.any(String), message: "Sure?", schema: expect.any(Object) }]);
  expect(await second.answer(taskId, { [questions[0]?.key ?? ""]: accepted })).toEqual([]);
  expect(await jsonOf(pending)).toEqual({ answered: { ok: true } });
  expect(isLeftAlone).toBe(true);
});

test("without onQuestion a host's own handler is asked, on the wires that ask by requests", async () => {
  const served = await serve({ wires });
  const client = await firstOverHttp(served.url);
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept" as const, content: { ok: true } }));
  expect(await jsonOf(taskClient(client).beginCall("ask"))).toEqual({ answered: { ok: true } });
});

test("what onQuestion throws ends the wait; the task stays open", async () => {
  const served = await serve({ wires });
  const calls = taskClient(await secondOverHttp(served.url, "auto"));
  const nobody = new Error("nobody is here");
  const pending = calls.beginCall("ask", {}, { onQuestion: () => Promise.reject(nobody) });
  await expect(pending.result()).rejects.toBe(nobody);
  const later = calls.resume(pending.taskId ?? "", { onQuestion: () => accepted });
  expect(await jsonOf(later)).toEqual({ answered: { ok: true } });
});

describe("watch with questions", () => {
  test.each(connections)("tells them with the status, and answer takes them: $name", async ({ open }) => {
    const served = await serve({ wires });
    const calls = taskClient(await open(served));
    const pending = calls.beginCall("ask");
    const taskId = (await pending.created) ?? "";
    pending.detach();
    let question: Question | undefined;
    for await (const { questions, status } of calls.watch(taskId, { questions: "hold" })) {
      if (status === "completed") break;
      const [first] = questions;
      if (first === undefined) continue;
      question = first;
      expect(await calls.answer(taskId, { nothing: accepted })).toEqual(["nothing"]);
      expect(await calls.answer(taskId, { [first.key]: accepted })).toEqual([]);
    }
    expect(question?.message).toBe("Sure?");
    const result = await calls.resume(taskId).result();
    expect((await calls.readWhole(result)).json).toEqual({ answered: { ok: true } });
  });
});
