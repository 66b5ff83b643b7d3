import { describe, expect, test } from "@jest/globals";
import { toHandle } from "../../src/no-tasks/to-handle.ts";
import { readProgressToken, toProgress } from "../../src/no-tasks/to-progress.ts";
import { aQuestion, aRecord, aView } from "../a-task.ts";

describe("[D-2] a handle", () => {
  test("names the task, its status, when to look again and how", () => {
    const view = aView({ execution: { status: "running", progress: { done: 3, total: 10 } } });
    expect(toHandle(view)).toEqual({
      content: [
        {
          type: "text",
          text: "Task t-1 of transcode is still running (3 of 10). It goes on by itself. Look again in 2 s: `taskbridge tasks show t-1` prints its status and, once it has ended, its result.",
        },
      ],
      structuredContent: { taskId: "t-1", taskStatus: "working", pollIntervalMs: 2_000, message: "3 of 10" },
      isError: false,
    });
  });

  test("[D-5] says what is asked and how it is answered", () => {
    const handle = toHandle(aView({ state: "waiting", questions: [aQuestion(), aQuestion({ state: "closed" })] }));
    expect(handle.content).toEqual([
      { type: "text", text: expect.stringContaining('"Delete 14 files?". Give it with `taskbridge tasks answer t-1`') },
    ]);
    expect(handle.structuredContent).toMatchObject({ taskStatus: "input_required" });
  });
});

describe("[D-3] progress", () => {
  test("rises with each notification, whatever the job says", () => {
    const counts = [undefined, undefined, 3, 3, 2, 8];
    let last = 0;
    const reported = counts.map((done) => {
      const progress = done === undefined ? {} : { done, total: 10 };
      const params = toProgress(aRecord({ execution: { status: "running", progress } }), "token", last);
      last = params.progress;
      return params.progress;
    });
    expect(reported).toEqual([0.001, 0.002, 3, 3.001, 3.002, 8]);
  });

  test.each([
    ["a", "a"],
    [0, 0],
    [1.5, undefined],
    [null, undefined],
    [{}, undefined],
  ])("the token %j is %j", (value, token) => {
    expect(readProgressToken({ progressToken: value })).toBe(token);
  });

  test.each([undefined, null, "a", ["a"]])("there is no token in the _meta %j", (meta) => {
    expect(readProgressToken(meta)).toBeUndefined();
  });
});
