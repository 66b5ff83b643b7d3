import { createHash } from "node:crypto";
import { BridgeError, type StartOutcome, type StartRequest } from "@taskbridge/core/adapter";
import { type EarlierSend, findStart } from "./events/find-start.ts";
import { toRef } from "./execution-ref.ts";
import { parseOpts, toSnapshot } from "./mapping/to-snapshot.ts";
import type { JobRow, QueuePort, QueueRead } from "./redis/client.ts";
import { type JobOptions, parseJobOptions } from "./settings/parse-job-options.ts";
import type { BullmqTarget } from "./settings/parse-target.ts";

/** What BullMQ takes for an ID, and more: no integer and no colon can come of it. */
const keyShape = /^[a-z][a-z0-9_-]{0,62}$/;

const refuse = (code: "invalid_input" | "conflict", text: string, path?: string): BridgeError =>
  new BridgeError(code, text, { operation: "start", notSent: true, ...(path === undefined ? {} : { data: { path } }) });

/**
 * By which a job is known again. Kept in its options, since a job's data may be changed while it runs; a repeated `add` is
 * silent, whatever it carries.
 */
const fingerprint = (job: string, input: string): string =>
  createHash("sha256")
    .update(JSON.stringify([job, input]))
    .digest("hex")
    .slice(0, 32);

const inputOf = (row: JobRow): unknown => {
  const mark: unknown = parseOpts(row.opts).taskbridge;
  return typeof mark === "object" && mark !== null ? (mark as { input?: unknown }).input : undefined;
};

/** A request whose shape is right, with everything that BullMQ is to be told. */
export interface ParsedStart {
  readonly id: string;
  readonly job: string;
  readonly data: unknown;
  readonly options: Readonly<Record<string, unknown>>;
  readonly fingerprint: string;
}

/** Checks what can be checked without Redis. */
export const parseStart = (
  { key, input }: StartRequest<BullmqTarget>,
  target: BullmqTarget,
  defaults: JobOptions,
): ParsedStart => {
  if (!keyShape.test(key)) throw refuse("invalid_input", "the start key does not have the shape of one");
  // Once more, since templates are filled by now.
  const { sizeLimit, ...options } = parseJobOptions({ ...defaults, ...target.options }, "options");
  const bytes = Buffer.byteLength(input);
  if (typeof sizeLimit === "number" && bytes > sizeLimit)
    throw refuse("invalid_input", `the input has ${bytes} bytes, at most ${sizeLimit} are taken`, "input");
  const mark = fingerprint(target.job, input);
  return {
    id: key,
    job: target.job,
    data: JSON.parse(input),
    fingerprint: mark,
    // Anything else than false would trim the whole queue, the jobs of others included.
    options: { ...options, removeOnComplete: false, removeOnFail: false, taskbridge: { input: mark } },
  };
};

/** What is there is compared: BullMQ resolves whatever it finds under an ID. */
const toStarted = (queue: QueuePort, start: ParsedStart, { rows, isPaused }: QueueRead): StartOutcome | undefined => {
  const row = rows[0];
  if (row === undefined || row.state === "missing") return undefined;
  if (row.state !== "gone" && inputOf(row) !== start.fingerprint)
    throw refuse("conflict", `another job has the ID ${start.id} in ${queue.name}`);
  const ref = toRef({ prefix: queue.prefix, queue: queue.name, id: start.id });
  return { ref, snapshot: toSnapshot(row, { isPaused }) };
};

/** Adds the job, or finds that it is there. */
export const startJob = async (queue: QueuePort, start: ParsedStart): Promise<StartOutcome> => {
  const there = await queue.add(start.id, start.job, start.data, start.options);
  if (there !== start.id)
    throw refuse("conflict", `a job with this deduplication ID is there already: ${queue.name} ${there}`);
  const ref = toRef({ prefix: queue.prefix, queue: queue.name, id: start.id });
  // It is there, whatever becomes of the read. Trimmed already, or removed: what became of it is for a look to tell.
  const read = await queue.read([start.id]).catch(() => undefined);
  return (read === undefined ? undefined : toStarted(queue, start, read)) ?? { ref };
};

/**
 * Starts a job that `sent`, an earlier send, may have started. Not by adding it once more: BullMQ knows a duplicate by the job's hash, and
 * where that was trimmed meanwhile it would run a second time.
 */
export const repeatStart = async (queue: QueuePort, start: ParsedStart, sent: EarlierSend): Promise<StartOutcome> => {
  const started = toStarted(queue, start, await queue.read([start.id]));
  if (started !== undefined) return started;
  const kept = await findStart(queue, sent);
  if (kept === undefined) return startJob(queue, start);
  return { ref: toRef({ prefix: queue.prefix, queue: queue.name, id: start.id }), ...kept };
};
