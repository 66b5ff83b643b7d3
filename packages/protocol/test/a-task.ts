import { asAdapterId, asOwnerId, asTaskId, type TaskQuestion, type TaskRecord, type TaskView } from "@taskbridge/core";
import { asStartKey } from "@taskbridge/core/adapter";

const at = Date.UTC(2026, 6, 28, 12, 0, 0);

/** A running task with what a test is about replaced. */
export const aRecord = (members: Partial<TaskRecord> = {}): TaskRecord => ({
  schema: 1,
  taskId: asTaskId("t-1"),
  revision: 3,
  owner: asOwnerId("local"),
  tool: "transcode",
  adapterId: asAdapterId("video"),
  target: { queue: "video" },
  startKey: asStartKey("mcp-00"),
  policy: {
    pollIntervalMs: 2_000,
    retentionMs: 60_000,
    maxRunMs: null,
    questionTimeoutMs: null,
    onUnknownStart: "fail",
  },
  state: "running",
  createdAt: at,
  updatedAt: at + 1_500,
  start: { deadlineAt: at + 300_000 },
  questions: [],
  effects: [],
  minted: 0,
  slotHeld: true,
  wakeAt: null,
  ...members,
});

export const aView = (members: Partial<TaskRecord> = {}, output?: string): TaskView => {
  const bytes = output === undefined ? undefined : new TextEncoder().encode(output);
  return {
    record: aRecord(members),
    pollIntervalMs: 2_000,
    isClientMinted: false,
    ...(bytes === undefined ? {} : { output: bytes }),
  };
};

/** A task whose job has given this output, as far as it is shown. */
export const succeeded = (
  output: string,
  mediaType: "application/json" | "text/plain" = "application/json",
  totalBytes: number = new TextEncoder().encode(output).length,
): TaskView =>
  aView(
    { state: "succeeded", endedAt: at + 5_000, expiresAt: at + 65_000, output: { mediaType, bytes: totalBytes } },
    output,
  );

export const aQuestion = (members: Partial<TaskQuestion> = {}): TaskQuestion => ({
  key: "q1",
  questionId: "approve#1",
  message: "Delete 14 files?",
  state: "open",
  askedAt: at,
  reasks: 0,
  ...members,
});

export const createdAt: number = at;
