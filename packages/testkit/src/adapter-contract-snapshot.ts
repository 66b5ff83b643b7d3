import assert from "node:assert/strict";
import {
  type ExecutionQuestion,
  type ExecutionSnapshot,
  executionStatuses,
  type InspectItem,
  isEnded,
} from "@taskbridge/core/adapter";

const statuses: ReadonlySet<string> = new Set(executionStatuses);

/** Fails unless the snapshot keeps every promise of the contract that can be seen from it alone. */
export const assertSnapshot = (snapshot: ExecutionSnapshot, want: InspectItem["want"] = "status"): void => {
  const { status, output, failure, questions, progress, startedAt, endedAt } = snapshot;
  assert.deepEqual(
    JSON.parse(JSON.stringify(snapshot)),
    snapshot,
    "a snapshot must survive JSON, without undefined members",
  );
  assert.ok(statuses.has(status), `unknown status ${JSON.stringify(status)}`);
  if (output !== undefined)
    assert.equal(status, "succeeded", `an output comes only with succeeded, not with ${status}`);
  if (output?.kind === "stream" && output.bytes !== undefined) assertCount(output.bytes, "output.bytes");
  if (failure !== undefined) {
    assert.ok(
      status === "failed" || status === "cancelled",
      `a failure comes only with failed or cancelled, not with ${status}`,
    );
    assert.ok(failure.kind === "job" || failure.kind === "protocol", `unknown failure.kind ${failure.kind}`);
    assertText(failure.reason, "failure.reason");
  }
  if (status === "failed") assert.ok(failure, "failed needs a failure that says why");
  for (const [name, at] of Object.entries({ startedAt, endedAt, expectedEndAt: snapshot.expectedEndAt })) {
    if (at !== undefined) assertInstant(at, name);
  }
  if (endedAt !== undefined) assert.ok(isEnded(status), `endedAt comes only with an end, not with ${status}`);
  if (startedAt !== undefined && endedAt !== undefined) assert.ok(startedAt <= endedAt, "startedAt is after endedAt");
  for (const [name, count] of Object.entries({ done: progress?.done, total: progress?.total })) {
    if (count !== undefined) assert.ok(Number.isFinite(count) && count >= 0, `progress.${name}: ${count}`);
  }
  for (const child of snapshot.children ?? []) {
    assertText(child.name, "children[].name");
    assert.ok(statuses.has(child.status), `unknown status ${JSON.stringify(child.status)} of child ${child.name}`);
  }
  if (isEnded(status)) assert.equal(questions?.length ?? 0, 0, "an ended execution has no open question");
  if (status === "waiting" && want === "detail")
    assert.ok(questions?.length, "waiting needs an open question: any other wait is running");
  assertQuestions(questions ?? []);
};

const assertQuestions = (questions: readonly ExecutionQuestion[]): void => {
  const ids = questions.map((question) => question.id);
  assert.equal(new Set(ids).size, ids.length, `question IDs repeat: ${ids.join(", ")}`);
  for (const question of questions) {
    assertText(question.id, "questions[].id");
    assertText(question.message, "questions[].message");
    if (question.expiresAt !== undefined) assertInstant(question.expiresAt, "questions[].expiresAt");
    if (question.heartbeatMs !== undefined)
      assert.ok(question.heartbeatMs > 0, `questions[].heartbeatMs: ${question.heartbeatMs}`);
  }
};

const assertText = (value: unknown, name: string): void => {
  assert.ok(
    typeof value === "string" && value.trim() !== "",
    `${name}: a text is needed, got ${JSON.stringify(value)}`,
  );
};

const assertCount = (value: number, name: string): void => {
  assert.ok(Number.isSafeInteger(value) && value >= 0, `${name}: a whole number is needed, got ${value}`);
};

/** Seconds instead of milliseconds would lie in 1970, microseconds beyond the year 5000. */
const assertInstant = (value: number, name: string): void => {
  const plausible = Number.isSafeInteger(value) && value > Date.UTC(2000) && value < Date.UTC(2200);
  assert.ok(plausible, `${name}: epoch milliseconds are needed, got ${value}`);
};
