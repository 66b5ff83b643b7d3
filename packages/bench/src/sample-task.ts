import { createHash } from "node:crypto";
import {
  asAdapterId,
  asExecutionRef,
  asOwnerId,
  asStartKey,
  asTaskId,
  type ExecutionRef,
  type OwnerId,
  type Payload,
  type TaskId,
  type TaskRecord,
} from "@taskbridge/core/store";

/** The records of one store under measurement. The same population has the same tasks. */
export interface Population {
  /** Makes the IDs different from those of other populations. */
  readonly seed: string;
  /** How many there are. */
  readonly size: number;
  /** Epoch milliseconds at which the newest was created. */
  readonly now: number;
}

/** A task as it is seeded: in its final form, as though it had been created and revised until then. */
export interface SampleTask {
  readonly record: Omit<TaskRecord, "revision">;
  readonly payloads: readonly Payload[];
}

export const adapters = 8;
export const tools = 40;
/** The one owner to whom a tenth of all belongs. */
export const hugeOwner: OwnerId = asOwnerId("https://login.example.com|nightly-batch");
/** Records of each of the others, about. */
const tasksOfSmallOwner = 18;
/** A million in a day. */
const everyMs = 86.4;
const retentionMs = 7 * 86_400_000;

type Stage = "running" | "succeeded" | "failed" | "expired";

/** 5 % hold a slot, 5 % have expired and wait for their backend, 10 % have failed, and the results of the others are kept. */
const stageOf = (drawn: number): Stage => {
  const share = drawn % 20;
  if (share === 0) return "running";
  if (share === 1) return "expired";
  return share <= 3 ? "failed" : "succeeded";
};

const digestOf = ({ seed }: Population, index: number): Buffer =>
  createHash("sha256").update(`${seed}:${index}`).digest();
const idOf = (digest: Buffer): TaskId => asTaskId(digest.toString("base64url", 0, 17).slice(0, 22));

export const taskIdAt = (population: Population, index: number): TaskId => idOf(digestOf(population, index));

export const refAt = (population: Population, index: number): ExecutionRef =>
  asExecutionRef(
    JSON.stringify({
      arn: `arn:aws:states:eu-west-1:123456789012:execution:transcode-video:${digestOf(population, index).toString("hex", 0, 16)}`,
      startedAt: Math.round(population.now),
    }),
  );

export const isHuge = (index: number): boolean => index % 10 === 0;
/** How many owners have few tasks. */
export const smallOwners = ({ size }: Population): number => Math.max(1, Math.ceil((size * 0.9) / tasksOfSmallOwner));
export const smallOwner = (number: number): OwnerId => asOwnerId(`https://login.example.com|user-${number}`);

/** The task of this number, from 0, the oldest, to `size` − 1. Beyond that: one that is not seeded. */
export const taskAt = (population: Population, index: number): SampleTask => {
  const digest = digestOf(population, index);
  const drawn = stageOf(digest.readUInt16BE(18));
  // An owner has few running at a time, whoever it is.
  const stage = isHuge(index) && drawn === "running" ? "succeeded" : drawn;
  const owner = isHuge(index) ? hugeOwner : smallOwner(digest.readUInt32BE(20) % smallOwners(population));
  return toTask(population, index, idOf(digest), owner, stage);
};

const toTask = (population: Population, index: number, taskId: TaskId, owner: OwnerId, stage: Stage): SampleTask => {
  const { size, now } = population;
  const number = index % tools;
  const createdAt = Math.floor(now - (size - index) * everyMs);
  const endedAt = createdAt + 60_000;
  const hasEnded = stage !== "running";
  const input = Buffer.from(
    JSON.stringify({ url: `https://media.example.com/raw/${taskId}.mp4`, profile: "h264-1080p", note: text(220) }),
  );
  const output = Buffer.from(
    JSON.stringify({ url: `https://media.example.com/out/${taskId}.mp4`, frames: 7200, log: text(500) }),
  );
  const console = `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${taskId}`;
  const record: Omit<TaskRecord, "revision"> = {
    schema: 1,
    taskId,
    owner,
    tool: `pipeline-${number}`,
    adapterId: asAdapterId(`backend-${number % adapters}`),
    target: {
      stateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:transcode-video",
      input: { source: "{{input.url}}", profile: "{{input.profile}}" },
    },
    startKey: asStartKey(`mcp-${taskId}`),
    policy: { pollIntervalMs: 2_000, retentionMs, maxRunMs: null, questionTimeoutMs: null, onUnknownStart: "fail" },
    state: stage === "expired" ? "succeeded" : stage,
    message: hasEnded ? "Finished after 7200 of 7200 frames" : "Frame 3600 of 7200",
    createdAt,
    updatedAt: hasEnded ? endedAt : createdAt + 30_000,
    begunAt: createdAt + 400,
    start: {
      firstSentAt: createdAt,
      lastSentAt: createdAt,
      lastOverAt: createdAt + 300,
      deadlineAt: createdAt + 300_000,
    },
    ref: refAt(population, index),
    execution: {
      status: stage === "expired" ? "succeeded" : stage,
      progress: { done: hasEnded ? 7_200 : 3_600, total: 7_200, message: "encoding" },
      url: console,
      startedAt: createdAt + 400,
      ...(hasEnded ? { endedAt } : {}),
    },
    questions: [],
    effects:
      stage === "expired"
        ? [
            {
              kind: "forget",
              id: "e2",
              attempts: 4,
              notBefore: now + retentionMs,
              lastError: "[backend] unavailable: it is away",
            },
          ]
        : [],
    minted: stage === "expired" ? 2 : 1,
    slotHeld: !hasEnded,
    wakeAt: hasEnded ? endedAt + retentionMs : null,
    ...(hasEnded ? { endedAt, expiresAt: endedAt + retentionMs } : {}),
    ...(stage === "expired" ? { expired: true } : {}),
    ...(stage === "succeeded" ? { output: { mediaType: "application/json" as const, bytes: output.length } } : {}),
    ...(stage === "failed" ? { failure: { kind: "job" as const, reason: `exit code 1: ${text(180)}` } } : {}),
  };
  const kept = stage === "expired" ? [] : [{ name: "input" as const, bytes: input }];
  return { record, payloads: stage === "succeeded" ? [...kept, { name: "output" as const, bytes: output }] : kept };
};

const words = "the quick brown encoder jumps over a lazy frame and writes it into its segment ".repeat(12);
const text = (length: number): string => words.slice(0, length);
