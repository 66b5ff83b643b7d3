/** What a server allows. Documented in its README; every refusal names the limit it met. */
export interface Limits {
  /** Tasks whose executions have not ended, for one owner. */
  readonly maxConcurrentTasksPerOwner: number;
  /** The longest time a result is kept after the end, whatever a tool or caller asks (milliseconds). */
  readonly maxRetentionMs: number;
  /** Larger results are given as a preview and a link. */
  readonly maxInlineResultBytes: number;
  /** The largest result that is fetched from a backend; more fails the task. */
  readonly maxResultBytes: number;
  /** The largest arguments of a call, as JSON. */
  readonly maxInputBytes: number;
  /** How often a question that was dismissed is asked again. */
  readonly maxReasks: number;
  /** An execution that is not found, without proof, is lost after this long (milliseconds). */
  readonly lostAfterMs: number;
  /** An execution that nobody reads is looked at this often (milliseconds), or more often where its backend forgets sooner. */
  readonly sweepIntervalMs: number;
  /** A read waits at most this long (milliseconds) for a look-up before it answers from the last state seen. */
  readonly readWaitMs: number;
  /** One call to a backend is given up after this long (milliseconds). */
  readonly callTimeoutMs: number;
  /** What is being sent when the server closes gets this long (milliseconds) to finish. */
  readonly closeGraceMs: number;
}

export const defaultLimits: Limits = {
  maxConcurrentTasksPerOwner: 10,
  maxRetentionMs: 86_400_000,
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
