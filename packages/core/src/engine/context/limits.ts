import { misconfigured } from "../../contract/misconfigured.ts";

/** What a server allows. Documented in its README; every refusal names the limit it met. */
export interface Limits {
  /** Tasks whose executions have not ended, for one owner. Default 10. */
  readonly maxConcurrentTasksPerOwner: number;
  /** The longest time a result is kept after the end, whatever a tool or caller asks (milliseconds). Default a day. */
  readonly maxRetentionMs: number;
  /** An ID that a client minted stays taken this long after its task is gone (milliseconds), so that a late duplicate starts nothing. Default a week. */
  readonly tombstoneMs: number;
  /** Larger results (bytes) are given as a preview and a link. Default 64 KiB. */
  readonly maxInlineResultBytes: number;
  /** The largest result (bytes) that is fetched from a backend; more fails the task. Default 256 MiB. */
  readonly maxResultBytes: number;
  /** The largest arguments of a call, as bytes of JSON. Default 4 MiB. */
  readonly maxInputBytes: number;
  /** How often a question that was dismissed is asked again. Default 3. */
  readonly maxReasks: number;
  /**
   * An execution that is not found, without proof, is lost after this long (milliseconds), and 144 times as long (a day) while more than a
   * fifth of ten or more are not found. Default 600,000.
   */
  readonly lostAfterMs: number;
  /** An execution that nobody reads is looked at this often (milliseconds), or more often where its backend forgets sooner. Default 60,000. */
  readonly sweepIntervalMs: number;
  /** A read waits at most this long (milliseconds) for a look-up before it answers from the last state seen. Default 2,000. */
  readonly readWaitMs: number;
  /** One call to a backend is given up after this long (milliseconds). Default 30,000. */
  readonly callTimeoutMs: number;
  /** What is being sent when the server closes gets this long (milliseconds) to finish. Default 5,000. */
  readonly closeGraceMs: number;
}

export const defaultLimits: Limits = {
  maxConcurrentTasksPerOwner: 10,
  maxRetentionMs: 86_400_000,
  tombstoneMs: 604_800_000,
  maxInlineResultBytes: 65_536,
  maxResultBytes: 256 * 1_048_576,
  maxInputBytes: 4_194_304,
  maxReasks: 3,
  lostAfterMs: 600_000,
  sweepIntervalMs: 60_000,
  readWaitMs: 2_000,
  callTimeoutMs: 30_000,
  closeGraceMs: 5_000,
};

/** Fills in the defaults. Throws `misconfigured` with `data.path` for a limit that is unknown or no limit. */
export const resolveLimits = (configured: Partial<Limits> = {}): Limits => {
  for (const [name, value] of Object.entries(configured)) {
    const path = `limits.${name}`;
    if (!Object.hasOwn(defaultLimits, name)) throw misconfigured(path, "there is no such limit");
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw misconfigured(path, `a whole number of at least 0 is needed, got ${String(value)}`);
    }
  }
  const given = Object.entries(configured).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(given) };
};
