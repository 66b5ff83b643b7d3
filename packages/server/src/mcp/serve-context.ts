import type { RequestStateCodec } from "@modelcontextprotocol/server";
import type { Clock, TaskEngine } from "@taskbridge/core";
import type { CallerCapabilities } from "@taskbridge/protocol/tasks-2026-07-28";
import type { Owner, OwnerPolicy } from "../caller.ts";
import type { OpenTaskFeed } from "../open-task-feed.ts";
import type { OwnerSlots } from "../owner-slots.ts";
import type { WireName } from "../parse-wires.ts";
import type { ReplicaMailbox } from "../replica-mailbox.ts";
import type { Sealer } from "../sealer.ts";
import type { ServerLog } from "../server-log.ts";
import type { PollMemory } from "./poll-memory.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

/** Who has the companion tools: `auto`, callers that do not get tasks. */
export type CompanionsPolicy = "auto" | "always" | "never";

/** What a server's requests share. Made once; nothing in it belongs to a request. */
export interface ServeContext {
  readonly engine: TaskEngine;
  readonly catalog: ToolCatalog;
  readonly identity: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly wires: ReadonlySet<WireName>;
  /** What a task of 2025-11-25 is whose tool result is an error. */
  readonly legacyErrorStatus: "failed" | "completed";
  /** Questions may also go to a client's model. */
  readonly allowModelAnswers: boolean;
  /** Who has the companion tools; `never` also where no pipeline is ever a task. */
  readonly companions: CompanionsPolicy;
  /** How often and when callers without tasks have looked at theirs. */
  readonly pollMemory: PollMemory;
  /** Whose tasks those of unverified callers are, where that is configured. */
  readonly owners: OwnerPolicy | undefined;
  /** How long a caller that knows no tasks waits for its result (milliseconds). */
  readonly waitMs: number;
  readonly clock: Clock;
  /** The time by which records are stamped (epoch milliseconds). */
  readonly storeNow: () => number;
  readonly log: ServerLog;
  readonly stateCodec: RequestStateCodec<unknown>;
  /** Signs what a call that waits for a task's user brings back: the same, but good for longer. */
  readonly taskStateCodec: RequestStateCodec<unknown>;
  /** Seals IDs of sessions, and of requests to clients. */
  readonly sealer: Sealer;
  /** Fires when the server is being stopped: connections that close from then on were closed by us. */
  readonly stopping: AbortSignal;
  /** Calls under way, so that a stop can wait for their answers. */
  readonly calls: Set<Promise<unknown>>;
  /** Open requests that are answered by the end of a task. */
  readonly waits: OwnerSlots;
  readonly openTasks: OpenTaskFeed;
  readonly mailbox: ReplicaMailbox;
  /** Questions that are being put to clients. A stop gives them up, and waits until others may ask them. */
  readonly asking: Set<Promise<unknown>>;
}

/** Where a request came in. */
export interface Connection {
  readonly era: "modern" | "legacy";
  readonly transport: "http" | "stdio";
  readonly owner: Owner;
}

/** A connection and what this one request declares. */
export interface Caller extends Connection {
  readonly capabilities: CallerCapabilities;
}
