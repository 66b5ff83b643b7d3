import type { TaskId } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";
import type { ServerClock } from "./server-clock.ts";

/** What the parts of the store work with. */
export interface StoreParts {
  readonly connection: Connection;
  readonly clock: ServerClock;
  /** How long an operation may take (milliseconds). */
  readonly timeoutMs: number;
  /** A quoted identifier. */
  readonly schema: string;
  /** Tells other processes, soon. */
  readonly changed: (taskId: TaskId) => void;
  /** Clears away what a large payload has left. Never rejects. */
  readonly sweep: () => Promise<void>;
}
