/** What goes wrong. `link`: the connections of one replica to the store or to the queue's Redis. */
export type FaultKind =
  | "kill replica"
  | "stop replica"
  | "roll replica"
  | "kill worker"
  | "restart store"
  | "restart queue"
  | "cut link"
  | "delay link"
  | "freeze link"
  | "lose answers";

/** One thing that goes wrong at one moment. */
export interface Fault {
  /** Milliseconds from the start of the run. */
  readonly atMs: number;
  readonly kind: FaultKind;
  /** Which replica or worker, from 0; of what there is one of, 0. */
  readonly target: number;
  /** Whose connections; of links only. */
  readonly link?: "store" | "queue";
  /** How long it lasts, or how long what was killed stays away (milliseconds). */
  readonly forMs: number;
}
