import { expect, test } from "@jest/globals";
import { openQuestions } from "../src/open-questions.ts";
import { withdrawn } from "../src/serve-requests.ts";
import type { GivenAnswer } from "../src/task.ts";

const params = { message: "Delete the next file?", requestedSchema: { type: "object" } };
const accepted: GivenAnswer = { action: "accept", content: { ok: true } };
const lost = new Error("the connection is lost");

const keysOf = (questions: ReturnType<typeof openQuestions>): readonly string[] =>
  questions.of("t-1").map(({ key }) => key);

test("two questions with the same wording are two questions", async () => {
  const questions = openQuestions();
  const one = questions.put("t-1", params, new AbortController().signal);
  const other = questions.put("t-1", params, new AbortController().signal);
  const [first = "", second = ""] = keysOf(questions);
  expect(second).not.toBe("");
  questions.answer("t-1", { [first]: accepted });
  questions.answer("t-1", { [second]: { action: "decline" } });
  expect(await one).toEqual(accepted);
  expect(await other).toEqual({ action: "decline" });
});

test("an answer that was lost on its way is given to nothing else", async () => {
  const questions = openQuestions();
  const delivery = new AbortController();
  const one = questions.put("t-1", params, delivery.signal);
  questions.answer("t-1", { [keysOf(questions)[0] ?? ""]: accepted });
  expect(await one).toEqual(accepted);
  delivery.abort(lost);
  void questions.put("t-1", params, new AbortController().signal);
  expect(keysOf(questions)).toHaveLength(1);
});

test("a question whose connection is lost before it is answered is asked once", async () => {
  const questions = openQuestions();
  const connection = new AbortController();
  void questions.put("t-1", params, connection.signal);
  const before = keysOf(questions);
  connection.abort(lost);
  expect(keysOf(questions)).toEqual(before);
  const again = questions.put("t-1", params, new AbortController().signal);
  expect(keysOf(questions)).toEqual(before);
  expect(questions.answer("t-1", { [before[0] ?? ""]: accepted })).toEqual([]);
  expect(await again).toEqual(accepted);
});

test("what nobody hears is not taken for an answer", () => {
  const questions = openQuestions();
  const connection = new AbortController();
  void questions.put("t-1", params, connection.signal);
  const [key = ""] = keysOf(questions);
  connection.abort(lost);
  expect(questions.answer("t-1", { [key]: accepted })).toEqual([key]);
});

test("what the server takes back, or nobody answers any more, is dismissed", async () => {
  const questions = openQuestions();
  const asked = new AbortController();
  const one = questions.put("t-1", params, asked.signal);
  asked.abort(withdrawn);
  expect(await one).toEqual({ action: "cancel" });
  const other = questions.put("t-1", params, new AbortController().signal);
  questions.drop("t-2");
  expect(keysOf(questions)).toHaveLength(1);
  questions.drop("t-1");
  expect(await other).toEqual({ action: "cancel" });
  expect(keysOf(questions)).toEqual([]);
});

test("answers are for the task that asks", () => {
  const questions = openQuestions();
  void questions.put("t-1", params, new AbortController().signal);
  const [key = ""] = keysOf(questions);
  expect(questions.answer("t-2", { [key]: accepted })).toEqual([key]);
  expect(questions.answer("t-1", { nothing: accepted })).toEqual(["nothing"]);
});
