import { randomBytes } from "node:crypto";
import {
  asAdapterId,
  asOwnerId,
  asStartKey,
  asTaskId,
  type CreateOptions,
  type TaskRecord,
  type TaskStore,
} from "@taskbridge/core/store";

/** Beside the known members, ones that only a later version knows. */
export type SampleOverrides = Partial<Omit<TaskRecord, "revision">> & { readonly [unknown: string]: unknown };

/** A small running task of the owner `local`, with its own random ID and start key. */
export const sampleRecord = (overrides: SampleOverrides = {}): Omit<TaskRecord, "revision"> => ({
  schema: 1,
  taskId: asTaskId(randomBytes(16).toString("base64url")),
  owner: asOwnerId("local"),
  tool: "transcode",
  adapterId: asAdapterId("video"),
  target: { queue: "video", job: "transcode" },
  startKey: asStartKey(`mcp-${randomBytes(16).toString("hex")}`),
  policy: {
    pollIntervalMs: 2000,
    retentionMs: 86_400_000,
    maxRunMs: null,
    questionTimeoutMs: null,
    onUnknownStart: "fail",
  },
  state: "queued",
  createdAt: 1_767_225_600_000,
  updatedAt: 1_767_225_600_000,
  start: { deadlineAt: 1_767_225_900_000 },
  questions: [],
  effects: [],
  minted: 0,
  slotHeld: true,
  wakeAt: null,
  ...overrides,
});

/** Creates without keys, payloads or limits unless told otherwise. */
export const createSample = (
  store: TaskStore,
  overrides: SampleOverrides = {},
  options: Partial<CreateOptions> = {},
): Promise<TaskRecord> =>
  store.create(sampleRecord(overrides), {
    uniqueKeys: [],
    maxOpenForOwner: null,
    maxOpenForTool: null,
    payloads: [],
    ...options,
  });
