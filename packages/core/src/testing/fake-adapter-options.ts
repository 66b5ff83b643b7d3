import type { AdapterTraits, AnswerRequest } from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";
import type { FakeExecution } from "./fake-adapter-execution.ts";
import type { FakeVerb } from "./fake-adapter-faults.ts";

export interface FakeAdapterOptions {
  /** Time of the backend and of every delay. Default: the machine's. */
  readonly clock?: Clock;
  /** Overrides of the defaults: idempotent for ever, confirmed cancel, forms, counted progress, batches of 100, no limits. */
  readonly traits?: Partial<AdapterTraits>;
  /** Verbs that this backend lacks. */
  readonly without?: readonly Exclude<FakeVerb, "start">[];
  /** What executions do by themselves, by the target's `run`. Called once, when the backend accepts the start. */
  readonly scripts?: Readonly<Record<string, (execution: FakeExecution) => void>>;
  /** The script of every other target. Default: nothing, the test moves the execution. */
  readonly onStart?: (execution: FakeExecution) => void;
  /**
   * What a cancel does that finds the execution not ended. Default: it ends as cancelled when `traits.cancel` is
   * `confirmed`, and otherwise goes on until the test says so.
   */
  readonly onCancel?: (execution: FakeExecution, reason: string) => void;
  /** Called when a new answer arrives, before its question closes. Throwing refuses it. */
  readonly onAnswer?: (execution: FakeExecution, request: AnswerRequest) => void;
  /** Default `running`. */
  readonly startsAs?: "queued" | "running";
  /** The ref changes when the execution leaves `queued`. Default false. */
  readonly evolvingRefs?: boolean;
  /** `want: "status"` tells neither questions nor progress, and `running` for `waiting`. Default false. */
  readonly hidesDetail?: boolean;
  /** What events say beside the fact that something changed. Default: everything. */
  readonly eventsCarry?: { readonly key?: boolean; readonly ref?: boolean; readonly snapshot?: boolean };
  /** `find` sees an execution this long after its start (milliseconds). Default 0. */
  readonly findableAfterMs?: number;
  /** One look-up that hangs is given up after this long (milliseconds), the others of its batch are answered with it. Default 1,000. */
  readonly itemTimeoutMs?: number;
  /** `readOutput` gives at most this many bytes at once. Default: what was asked for. */
  readonly outputChunkBytes?: number;
  /** The answer of `start` also tells the state. Default true. */
  readonly startReportsState?: boolean;
}
