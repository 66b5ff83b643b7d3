import { isBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import { invalidInput } from "../../contract/misconfigured.ts";
import type { TaskQuestion, TaskRecord } from "../../contract/task-record.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, requireVisible } from "../context/ownership.ts";
import { requireLabel } from "../context/require-label.ts";
import type { ClaimOutcome } from "../context/task-engine.ts";
import { openQuestions } from "../state/questions.ts";
import { resolveTask } from "../state/resolve-task.ts";
import { reviseTask } from "../state/revise-task.ts";

export interface QuestionClaim {
  readonly by: string;
  readonly forMs: number;
}

/** Who claims a question and dies holds it no longer than this, also when the store's clock is set back. */
const maxMs = 60_000;

/** See `TaskEngine.claimQuestion`. */
export const claimQuestion = async (
  engine: EngineContext,
  id: unknown,
  access: Access,
  key: string,
  claim: QuestionClaim,
): Promise<ClaimOutcome> => {
  requireClaim(claim);
  let outcome: ClaimOutcome = { outcome: "closed" };
  const known = await resolveTask(engine, id, access);
  const after = await reviseTask(
    engine,
    known.taskId,
    (record) => {
      const question = findOpen(requireVisible(record, access), key);
      outcome = question === undefined ? { outcome: "closed" } : claimOf(question, claim, engine.store.now());
      // Held already for as long as is asked.
      if (outcome.outcome !== "held" || outcome.question === question) return undefined;
      return { record: withQuestion(record, outcome.question) };
    },
    known,
  );
  requireVisible(after, access);
  return outcome;
};

/** See `TaskEngine.releaseQuestion`. */
export const releaseQuestion = async (
  engine: EngineContext,
  id: unknown,
  access: Access,
  key: string,
  by: string,
): Promise<void> => {
  try {
    const known = await resolveTask(engine, id, access);
    await reviseTask(
      engine,
      known.taskId,
      (record) => {
        const question = findOpen(requireVisible(record, access), key);
        if (question?.claim?.by !== by) return undefined;
        const { claim: _claim, ...released } = question;
        return { record: withQuestion(record, released) };
      },
      known,
    );
  } catch (error) {
    // There is nothing left to give back.
    if (!isBridgeError(error) || error.code !== "not_found") throw error;
  }
};

const findOpen = (record: TaskRecord, key: string): TaskQuestion | undefined =>
  isEnded(record.state) ? undefined : openQuestions(record.questions).find((question) => question.key === key);

const claimOf = (question: TaskQuestion, { by, forMs }: QuestionClaim, now: number): ClaimOutcome => {
  const current = question.claim;
  const isLive = current !== undefined && current.until > now && current.until <= now + maxMs;
  if (isLive && current.by !== by) return { outcome: "taken", until: current.until };
  const until = now + forMs;
  if (isLive && current.until >= until) return { outcome: "held", question };
  return { outcome: "held", question: { ...question, claim: { by, until } } };
};

/** Nothing that clients see is changed, so `updatedAt` stays. */
const withQuestion = (record: TaskRecord, changed: TaskQuestion): TaskRecord => ({
  ...record,
  questions: record.questions.map((question) => (question.key === changed.key ? changed : question)),
});

const requireClaim = ({ by, forMs }: QuestionClaim): void => {
  requireLabel("by", by);
  if (!Number.isSafeInteger(forMs) || forMs < 1 || forMs > maxMs)
    throw invalidInput("forMs", `a whole number of 1 to ${maxMs} is needed, got ${String(forMs)}`);
};
