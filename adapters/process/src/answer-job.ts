import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type AnswerRequest, BridgeError, type CallContext } from "@taskbridge/core/adapter";
import { wakeSupervisor } from "./cancel-job.ts";
import { type JobStage, readStage } from "./inspect-job.ts";
import { type AnswerRecord, claimFolder, errnoOf, jobFile, readRecord } from "./job-folder.ts";

const pollMs = 10;
/** How long (milliseconds) a supervisor may take to hand an answer over. */
const deliverMs = 5000;

const conflict = (id: string, problem: string): BridgeError =>
  new BridgeError("conflict", `the question ${id} ${problem}`, { operation: "answer" });

const isOpen = (stage: JobStage, id: string): boolean =>
  stage.kind === "running" && stage.state?.questions.some((question) => question.id === id) === true;

/** The answer that a question got. Folders, not files: the first to rename its own into place has answered. */
const answerFolder = (folder: string, id: string): string =>
  join(folder, jobFile.inbox, createHash("sha256").update(id).digest("hex").slice(0, 32));

const readAnswer = (folder: string, id: string): Promise<AnswerRecord | undefined> =>
  readRecord<AnswerRecord>(join(answerFolder(folder, id), "answer.json"));

const leaveAnswer = async (
  folder: string,
  { question, answerId, action, content }: AnswerRequest,
  at: number,
): Promise<void> => {
  const record: AnswerRecord = { questionId: question.id, answerId, at, action, content };
  await mkdir(join(folder, jobFile.inbox), { mode: 0o700 }).catch((error: unknown) => {
    if (errnoOf(error) !== "EEXIST") throw error;
  });
  await claimFolder(answerFolder(folder, question.id), { "answer.json": JSON.stringify(record) });
};

const waitUntilDelivered = async (folder: string, id: string, signal: AbortSignal): Promise<void> => {
  const endsAt = performance.now() + deliverMs;
  for (;;) {
    const stage = await readStage(folder);
    if (stage.kind === "ended" && stage.end.unanswered.includes(id))
      throw conflict(id, "was not answered before the job ended");
    if (stage.kind === "ended") return;
    if (stage.kind !== "running") throw conflict(id, "cannot be answered any more: the job's supervisor is gone");
    if (!isOpen(stage, id)) return;
    await wakeSupervisor(stage.supervisor);
    if (signal.aborted || performance.now() > endsAt) {
      throw new BridgeError("unavailable", `the answer to ${id} is kept but not handed over yet`, {
        operation: "answer",
      });
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};

/** Hands an answer to a job, once. Resolves when it is written to the job's stdin. */
export const answerJob = async (folder: string, request: AnswerRequest, context: CallContext): Promise<void> => {
  const { id } = request.question;
  const stage = await readStage(folder);
  if (stage.kind === "missing") throw new BridgeError("not_found", `no such job: ${folder}`, { operation: "answer" });
  if (isOpen(stage, id)) await leaveAnswer(folder, request, context.now());
  const given = await readAnswer(folder, id);
  if (given === undefined) throw conflict(id, "is not open");
  if (given.answerId !== request.answerId) throw conflict(id, "has already been answered");
  return waitUntilDelivered(folder, id, context.signal);
};
