import { describe, expect, test } from "@jest/globals";
import type { GivenAnswer, Question } from "../src/index.ts";
import { questionInbox } from "../src/question-inbox.ts";
import { relatedTaskId } from "../src/wire/related-task.ts";

const never = new AbortController().signal;
const decline: GivenAnswer = { action: "decline" };
const plain = { message: "Sure?" };
const of = (taskId: string) => ({ ...plain, _meta: { "io.modelcontextprotocol/related-task": { taskId } } });
const handle = (inbox: ReturnType<typeof questionInbox>, params: object) =>
  inbox.handle("elicitation/create", params as Record<string, unknown>, never);

describe("whose question it is", () => {
  test("of a task that somebody follows: theirs", async () => {
    const inbox = questionInbox(relatedTaskId);
    let wakes = 0;
    inbox.claim("t-1", () => wakes++);
    const answer = handle(inbox, of("t-1"));
    expect(wakes).toBe(1);
    const [question] = inbox.of("t-1");
    expect(question).toMatchObject(plain);
    expect(inbox.answer("t-1", { [question?.key ?? ""]: decline })).toEqual([]);
    expect(await answer).toEqual(decline);
  });

  test("of a task of somebody else, or no question at all: the client's own handler's", () => {
    const inbox = questionInbox(relatedTaskId);
    inbox.claim("t-1", () => {});
    expect(handle(inbox, of("t-2"))).toBeUndefined();
    expect(handle(inbox, plain)).toBeUndefined();
    expect(inbox.handle("sampling/createMessage", {}, never)).toBeUndefined();
  });

  test("of the only call that is begun: that call's", async () => {
    const inbox = questionInbox(relatedTaskId);
    const asked: Question[] = [];
    const end = inbox.expect({
      ask: async (question) => {
        asked.push(question);
        return decline;
      },
      expectsTask: false,
    });
    expect(await handle(inbox, plain)).toEqual(decline);
    expect(asked).toHaveLength(1);
    end();
    expect(handle(inbox, plain)).toBeUndefined();
  });

  test("of one of two calls that are begun: it says of neither", () => {
    const inbox = questionInbox(relatedTaskId);
    for (let call = 0; call < 2; call++) inbox.expect({ ask: async () => decline, expectsTask: true });
    expect(handle(inbox, plain)).toBeUndefined();
  });

  test("of a task whose call is still to be answered: it waits for that answer", async () => {
    const inbox = questionInbox(relatedTaskId);
    const end = inbox.expect({ ask: async () => ({ action: "accept" }), expectsTask: true });
    const answer = handle(inbox, of("t-1"));
    inbox.claim("t-1", () => {});
    end();
    await new Promise(setImmediate);
    const [question] = inbox.of("t-1");
    inbox.answer("t-1", { [question?.key ?? ""]: decline });
    expect(await answer).toEqual(decline);
  });
});

test("when nobody follows the task any more, what it asks is dismissed", async () => {
  const inbox = questionInbox(relatedTaskId);
  const ends = [inbox.claim("t-1", () => {}), inbox.claim("t-1", () => {})];
  const answer = handle(inbox, of("t-1"));
  ends[0]?.();
  ends[0]?.();
  expect(inbox.of("t-1")).toHaveLength(1);
  ends[1]?.();
  expect(await answer).toEqual({ action: "cancel" });
});
