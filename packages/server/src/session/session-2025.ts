import type { SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Channel } from "./channel.ts";
import type { ClientLink, RequestId } from "./client-link.ts";
import type { Sep1686Calls } from "./sep1686-calls.ts";
import type { SessionChannels } from "./session-channels.ts";
import type { TaskWatch } from "./task-watch.ts";

/** A generation of tasks that a client of a 2025 revision can speak. */
export type TaskWire = "2025-11-25" | "sep-1686";

/** One client of a 2025 revision for as long as it stays connected. It owns nothing: a task belongs to its owner. */
export interface Session2025 {
  readonly link: ClientLink;
  /** By which replicas that serve the same session know it, as `toSessionName`. Undefined: it has but one connection. */
  readonly name: string | undefined;
  /** As declared with `initialize`. */
  capabilities(): SessionCapabilities;
  /** The negotiated revision; undefined before `initialize`. */
  revision(): string | undefined;
  /** The stream of one of the client's requests. */
  channelOf(requestId: RequestId): Channel;
  readonly channels: SessionChannels;
  readonly watch: TaskWatch;
  readonly draft: Sep1686Calls;
  /** The generations of tasks that the client has shown to speak. */
  readonly spoken: Set<TaskWire>;
  /** The client was asked this question of a task in vain: it cannot answer it. */
  hasGivenUp(taskId: string, key: string): boolean;
  /** Fires when the client can no longer be reached. */
  readonly closed: AbortSignal;
}
