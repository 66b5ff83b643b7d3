import { describe, expect, test } from "@jest/globals";
import { companionTools, maxWaitSeconds } from "../../src/no-tasks/companion-tools.ts";
import { pageToFetch, toPageResult, toResultPage } from "../../src/no-tasks/result-page.ts";
import { toCancelResult } from "../../src/no-tasks/to-cancel-result.ts";
import { toEndedResult } from "../../src/no-tasks/to-ended-result.ts";
import { advisedPollMs, toHandle } from "../../src/no-tasks/to-handle.ts";
import { toUnknownTask } from "../../src/no-tasks/to-unknown-task.ts";
import { aQuestion, aRecord, aView, createdAt, succeeded } from "../a-task.ts";

const companions = { waitSeconds: 30, modelAnswers: false };
const textOf = ({ content }: { readonly content: readonly object[] }): string =>
  content.flatMap((block) => ("text" in block ? [block.text] : [])).join("\n");

describe("[D-4] the companions", () => {
  test("take what they need and nothing else, and tell what they do", () => {
    const tools = companionTools(true);
    expect(tools.map(({ name }) => name)).toEqual(["task_status", "task_result", "task_cancel", "task_answer"]);
    for (const { inputSchema, annotations } of tools) {
      expect(inputSchema).toMatchObject({ additionalProperties: false, required: expect.arrayContaining(["taskId"]) });
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean) });
    }
    expect(companionTools(false).map(({ name }) => name)).not.toContain("task_answer");
    expect(maxWaitSeconds).toBeLessThan(60);
  });
});

describe("[D-4] what a model reads", () => {
  test("of a running task names the one call that waits, also where hosts show nothing but the structured content", () => {
    const handle = toHandle(aView({ execution: { status: "running", progress: { done: 12, total: 40 } } }), {
      companions,
    });
    const next = "To wait for its result, call task_status with taskId t-1 and waitSeconds 30.";
    expect(textOf(handle)).toBe(`Task t-1 of transcode is still running (12 of 40). It goes on by itself. ${next}`);
    expect(handle.structuredContent).toEqual({
      taskId: "t-1",
      taskStatus: "working",
      pollIntervalMs: 2_000,
      message: "12 of 40",
      next,
    });
  });

  test.each([
    [0, 2_000],
    [1, 30_000],
    [2, 60_000],
    [4, 240_000],
    [5, 300_000],
    [500, 300_000],
  ])("after %i looks that came too early, the next is worth it in %i ms", (early, pauseMs) => {
    expect(advisedPollMs(aView(), early)).toBe(pauseMs);
  });

  test.each([
    [
      {},
      /waits for an answer by a person: "Delete 14 files\?"\. It cannot be given here: .*taskbridge tasks answer t-1/,
    ],
    [
      { asked: "now" as const },
      /waits for the user, who is being asked .* Do not answer for them\. Once they have answered, call task_status/,
    ],
    [
      { asked: "again" as const },
      /was asked .* and has not answered\. Do not answer for them\. To have them asked again, call task_status/,
    ],
    [{ companions: { ...companions, modelAnswers: true } }, /call task_answer with taskId t-1.* key q1, no content\.$/],
  ])("of a question, with %j", (more, text) => {
    const handle = toHandle(aView({ state: "waiting", questions: [aQuestion()] }), { companions, ...more });
    expect(textOf(handle)).toMatch(text);
    expect(handle.structuredContent).toMatchObject({ taskStatus: "input_required", next: expect.stringMatching(text) });
  });

  test("a page to visit is named, and neither it nor a secret is given to a model to answer", () => {
    const modelAnswers = { companions: { ...companions, modelAnswers: true } };
    const page = aQuestion({ url: "https://sign.example/1" });
    expect(textOf(toHandle(aView({ questions: [page] }), modelAnswers))).toContain(
      "Ask the user to open https://sign.example/1. Once that is done, call task_status",
    );
    const secret = aQuestion({ schema: { type: "object", properties: { a: { type: "string", format: "password" } } } });
    const reported = textOf(toHandle(aView({ questions: [secret] }), modelAnswers));
    expect(reported).toContain("`taskbridge tasks answer t-1`");
    expect(reported).not.toContain("task_answer");
  });

  test("of an end: how, and then the result", () => {
    expect(textOf(toEndedResult(succeeded('{"files":14}'), undefined))).toBe(
      'Task t-1 of transcode has completed.\n{"files":14}',
    );
    const failed = aView({ state: "failed", endedAt: 1, failure: { kind: "job", reason: "exit code 2" } });
    expect(toEndedResult(failed, undefined)).toMatchObject({ isError: true });
    expect(textOf(toEndedResult(failed, undefined))).toBe("Task t-1 of transcode has failed.\nexit code 2");
  });

  test("of a stop that is under way says how to see its end", () => {
    const result = toCancelResult(aView(), { hadEnded: false, waitSeconds: 30 });
    expect(textOf(result)).toBe(
      "Task t-1 of transcode was asked to stop, and has not stopped yet. Call task_status with taskId t-1 and waitSeconds 30 to see how it ends.",
    );
    expect(result.structuredContent).toMatchObject({ taskId: "t-1", taskStatus: "working" });
  });
});

describe("case 27: [D-11] an ID that is not known", () => {
  const open = [
    aView({ execution: { status: "running", progress: { done: 3, total: 10 } } }),
    aView({ state: "waiting", questions: [aQuestion()] }),
    { ...aView(), record: aRecord({ cancel: { requestedAt: createdAt, reason: "", isFinal: true } }) },
  ];

  test("brings the caller's open tasks and how they stand", () => {
    expect(toUnknownTask("made-up", "Task not found", open)).toEqual({
      content: [
        {
          type: "text",
          text: [
            'Task not found: "made-up". Your open tasks:',
            "- t-1 of transcode: running (3 of 10)",
            "- t-1 of transcode: waits for an answer",
            "- t-1 of transcode: being stopped",
          ].join("\n"),
        },
      ],
      isError: true,
    });
  });

  test("that has expired says so, and where nothing can be listed nothing is", () => {
    expect(textOf(toUnknownTask("t-1", "Task has expired", []))).toBe(
      'Task has expired: "t-1". You have no open tasks.',
    );
    expect(textOf(toUnknownTask("t-1", "Task not found", undefined))).toBe(
      'Task not found: "t-1". Take the ID from the answer that named it.',
    );
  });
});

describe("case 30: a page of a result", () => {
  const bytes = new TextEncoder().encode("aä€😀".repeat(5));
  const read = (offset: number, length?: number) => {
    const page = toResultPage("t-1", length === undefined ? { offset } : { offset, length });
    const fetched = pageToFetch(page);
    return toPageResult(page, bytes.subarray(fetched.offset, fetched.offset + fetched.length), bytes.length);
  };

  test.each([1, 4, 5, 7, 11, 49])("of %i bytes is cut at characters, and names the next until the end", (length) => {
    let text = "";
    let offset: number | undefined = 0;
    for (let turn = 0; turn < 60 && offset !== undefined; turn++) {
      const [part, note] = read(offset, length).content as readonly { readonly text: string }[];
      text += part?.text;
      const next = /offset (\d+) to read on/.exec(note?.text ?? "")?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(text).toBe("aä€😀".repeat(5));
  });

  test("that is the whole says nothing beside it; one beyond the end is refused", () => {
    expect(read(0)).toEqual({ content: [{ type: "text", text: "aä€😀".repeat(5) }], isError: false });
    expect(() => read(51)).toThrow(expect.objectContaining({ code: "invalid_input", data: { path: "offset" } }));
  });
});
