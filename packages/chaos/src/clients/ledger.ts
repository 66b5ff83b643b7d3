import type { WireName } from "@taskbridge/client";

/** Why an attempt has failed. */
export interface Failure {
  /**
   * `unavailable`: it may be tried again. `gone`: the session or connection is of no use any more. `wrong`: the server has
   * said something that it must not say.
   */
  readonly kind: "unavailable" | "unknown task" | "cancelled" | "gone" | "refused" | "wrong";
  /** In a few words that are the same for the same reason. */
  readonly why: string;
}

/** What a call came to, as a client reads it. */
export interface GivenResult {
  /** The last text that it holds: of a job that succeeded its JSON, of one that failed what it says. */
  readonly text: string;
  readonly isError: boolean;
}

/** A status in the words that all wires share: on some of them a job that failed has completed. */
export type SeenStatus = "open" | "finished" | "cancelled" | "not found";

/**
 * What a client did or was told. A call is known by a name that is in its arguments and so in the job's data too. Instants:
 * milliseconds by one monotonic clock; `sentAt` is before the request left, `at` after its answer came.
 */
export type LedgerEvent =
  | {
      readonly kind: "started";
      readonly call: string;
      readonly tool: string;
      readonly owner: string;
      readonly wire: WireName;
      readonly sentAt: number;
    }
  /** `taskId`: undefined where the call was answered with its result. */
  | { readonly kind: "acknowledged"; readonly call: string; readonly taskId: string | undefined; readonly at: number }
  | {
      readonly kind: "saw";
      readonly call: string;
      readonly status: SeenStatus;
      readonly wire: WireName;
      readonly sentAt: number;
      readonly at: number;
    }
  | { readonly kind: "result"; readonly call: string; readonly result: GivenResult; readonly wire: WireName }
  /** Somebody asked for it, whatever became of that. */
  | { readonly kind: "cancelling"; readonly call: string; readonly wire: WireName; readonly sentAt: number }
  /** `isFinal`: it was told that the task is `cancelled`, which it then stays. */
  | { readonly kind: "cancelled"; readonly call: string; readonly isFinal: boolean; readonly at: number }
  /** From here on the task may be gone, because its owner deletes it. */
  | { readonly kind: "deleting"; readonly call: string; readonly sentAt: number }
  /** `token`: the answer's own, which the job returns. */
  | { readonly kind: "answering"; readonly call: string; readonly token: string; readonly sentAt: number }
  | { readonly kind: "answered"; readonly call: string; readonly token: string; readonly at: number }
  | { readonly kind: "listed"; readonly owner: string; readonly taskIds: readonly string[] }
  /** An ID of somebody else, and one that nobody has: what was said of each, the ID taken out. */
  | { readonly kind: "probed"; readonly verb: string; readonly foreign: string; readonly unknown: string }
  /** An attempt that failed. */
  | { readonly kind: "failed"; readonly wire: WireName; readonly verb: string; readonly failure: Failure }
  /** How long a look took that was answered (milliseconds). */
  | { readonly kind: "polled"; readonly durationMs: number };

export interface Ledger {
  readonly events: readonly LedgerEvent[];
  add(event: LedgerEvent): void;
}

export const createLedger = (): Ledger => {
  const events: LedgerEvent[] = [];
  return { events, add: (event) => void events.push(event) };
};
