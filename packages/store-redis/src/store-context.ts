import type { TaskId } from "@taskbridge/core/store";
import type { Keys } from "./keys.ts";
import type { RedisPort } from "./redis/redis-port.ts";

/** What the verbs work with. */
export interface StoreContext {
  readonly port: RedisPort;
  readonly keys: Keys;
  /** Epoch milliseconds by the server's clock. */
  now(): number;
  /** Asks the server for its time anew, when what it answers shows that ours is off. */
  readTime(): Promise<void>;
  /** Tells other processes, soon, that a record has changed. */
  announce(taskId: TaskId): void;
}
