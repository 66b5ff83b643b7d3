/** What is used of BullMQ's `Job`. */
export interface BridgedJob {
  readonly id?: string | undefined;
  readonly progress: unknown;
  readonly opts?: object;
  updateProgress(progress: object): Promise<void>;
}

/** BullMQ's `Worker`, which a job knows as its queue. */
export interface Holder {
  toKey(name: string): string;
  cancelJob(jobId: string, reason?: string): boolean;
  getBackend(): {
    readonly client: Promise<{
      hget(key: string, field: string): Promise<string | null>;
      defineCommand(name: string, definition: { readonly numberOfKeys: number; readonly lua: string }): unknown;
      /** Runs a command that was defined. */
      runCommand(name: string, args: (string | number)[]): Promise<unknown>;
    }>;
    /** Puts a running job off, and writes fields of its hash, in one script. */
    moveToDelayed(
      jobId: string,
      timestamp: number,
      delay: number,
      token: string | undefined,
      options: { readonly skipAttempt: boolean; readonly fieldsToUpdate: Readonly<Record<string, string | number>> },
    ): Promise<unknown>;
  };
}

/** One run of a processor. */
export interface Run {
  readonly holder: Holder;
  readonly id: string;
  readonly token: string | undefined;
  /** How often each key has been asked in this run. */
  readonly asked: Map<string, number>;
}

/** What is known of the jobs that are being processed, by the job. */
export const runs: WeakMap<object, Run> = new WeakMap();

/** BullMQ tells errors by their name. */
export const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

export const holderOf = (job: unknown): Holder => {
  const { queue } = job as { readonly queue?: Partial<Holder> };
  if (typeof queue?.cancelJob === "function" && typeof queue.getBackend === "function") return queue as Holder;
  throw new Error(
    "bridgeProcessor needs a job from a BullMQ 6 Worker; sandboxed processors, in a file of their own, cannot be wrapped",
  );
};
