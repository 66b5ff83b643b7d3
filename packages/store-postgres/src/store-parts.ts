import type { TaskId } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** What the parts of the store work with. */
export interface StoreParts {
  readonly connection: Connection;
  /** A quoted identifier. */
  readonly schema: string;
  /** Tells other processes, soon. */
  readonly changed: (taskId: TaskId) => void;
  /** Clears away what a large payload has left. Never rejects. */
  readonly sweep: () => Promise<void>;
}
