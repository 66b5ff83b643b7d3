import type { AuthInfo, Transport } from "@modelcontextprotocol/server";
import type { AuditSink, Clock, Limits, TaskEngine, TaskEngineOptions, ToolDefinition } from "@taskbridge/core";
import type { WorkflowAdapter } from "@taskbridge/core/adapter";
import type { TaskStore } from "@taskbridge/core/store";
import type { Authenticator } from "./auth/authenticator.ts";
import type { OwnerPolicy } from "./caller.ts";
import type { Readiness } from "./health/readiness.ts";
import type { PlainTool } from "./mcp/plain-tool.ts";
import type { CompanionsPolicy } from "./mcp/serve-context.ts";
import type { WireName } from "./parse-wires.ts";
import type { WireLimits } from "./server-limits.ts";
import type { ServerLog } from "./server-log.ts";

export interface TaskServerOptions {
  /** What clients see as the server's name. */
  readonly name: string;
  /** Default: `0.0.0`. */
  readonly version?: string;
  /** Text for the model. */
  readonly instructions?: string;
  /** Keeps the tasks. Closed with the server. */
  readonly store: TaskStore;
  /** By the names that tools use for them. Closed with the server. */
  readonly adapters: Readonly<Record<string, WorkflowAdapter>>;
  /** The pipelines, in the order in which they are listed. */
  readonly tools: readonly ToolDefinition[];
  /** Ordinary tools to serve beside the pipelines. */
  readonly plainTools?: readonly PlainTool[];
  /**
   * Default: `["2026-07-28", "2025-11-25", "none"]`. `sep-1686`, by which clients choose the IDs of tasks, needs owners:
   * `createTaskServer` and `listen` refuse to serve it without (`misconfigured`).
   */
  readonly wires?: readonly WireName[];
  /**
   * What a task of 2025-11-25 is whose job has failed. Default: `failed`, as the specification says; official clients
   * then show `statusMessage` and never fetch the result, which `completed` lets them do.
   */
  readonly legacyErrorStatus?: "failed" | "completed";
  /**
   * Who has the tools by which a host without tasks gets at one, `task_status`, `task_result` and `task_cancel`. `auto`:
   * callers that do not get tasks. Default: `auto`.
   */
  readonly companions?: CompanionsPolicy;
  /** True: a question may also be answered by a client's model, where no person can be asked, and by `task_answer`. Default: false. */
  readonly allowModelAnswers?: boolean;
  /** Verifies HTTP callers. Default: nobody is verified, which only a loopback address allows. */
  readonly auth?: Authenticator;
  /** Whose tasks those of unverified HTTP callers are. Default: `local` when listening on a loopback address, else (also for `fetch`) `none`. */
  readonly owners?: OwnerPolicy;
  /** What the server allows. Default: `defaultLimits` and `defaultWireLimits`, member by member. */
  readonly limits?: Partial<Limits & WireLimits>;
  /** How long a host that knows no tasks waits before it gets a handle (milliseconds, at most 45,000). Default: 30,000. */
  readonly waitMs?: number;
  /** 32 bytes; questions' secrets are stored encrypted with it. Default: stored as they are. */
  readonly encryptionKey?: Uint8Array;
  /**
   * At least 32 bytes, the same in all replicas. Protects what clients keep for the server: IDs of sessions, and the state of
   * calls that ask. Default: a random one, which the store keeps for all that share it.
   */
  readonly stateKey?: Uint8Array | string;
  /** Takes structured events. Default: none are kept. */
  readonly audit?: AuditSink;
  /** A pino logger fits. Default: nothing is logged. */
  readonly log?: ServerLog;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Where IDs and keys come from. Default: the system's secure source. */
  readonly randomBytes?: NonNullable<TaskEngineOptions["randomBytes"]>;
  /** How often a silent stream shows life (milliseconds). Default: 15,000. */
  readonly keepAliveMs?: number;
}

export interface ListenOptions {
  /** Default: `127.0.0.1`. */
  readonly host?: string;
  /** Default: 3000. 0: any free port. */
  readonly port?: number;
  /** Default: `/mcp`. */
  readonly path?: string;
  /** Host names by which the server may be called, beside its own address. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may call the server. */
  readonly allowedOrigins?: readonly string[];
  /** Serves an address that others can reach without verifying anybody: whoever knows a task's ID has access to it. */
  readonly unsafePublic?: boolean;
}

export interface CloseOptions {
  /**
   * How long the server goes on serving as before, new requests as well, while it tells by `GET /readyz` and `readiness` that it
   * is leaving, and closes each HTTP connection with its answer (milliseconds, at most 600,000). Where `store.shared`, what the
   * engine does by itself is left to the others from the beginning. Default: 0, it stops at once.
   */
  readonly drainMs?: number;
}

/** A running server. */
export interface TaskServer {
  readonly engine: TaskEngine;
  /** Serves Streamable HTTP. Rejects with `misconfigured` (`data.path`) for an address that is taken or not safe. */
  listen(options?: ListenOptions): Promise<ListeningServer>;
  /** Serves one client, on stdin and stdout unless told otherwise. Resolves when the connection ends. */
  serveStdio(options?: { readonly transport?: Transport }): Promise<void>;
  /**
   * Answers one request, for a server to be mounted elsewhere. Host and Origin are then the surroundings' to check, and so
   * is the caller when `authInfo` is given.
   */
  fetch(request: Request, options?: { readonly authInfo?: AuthInfo }): Promise<Response>;
  /** Tells HTTP subscribers that the tools have changed. */
  toolsChanged(): void;
  /** What `GET /readyz` tells, for a server that is mounted elsewhere. Never rejects; asks the store at most once a second. */
  readiness(): Promise<Readiness>;
  /**
   * Stops serving. Tasks go on. Idempotent; resolves within 10 seconds, or 12 after a drain. A second call without `drainMs` cuts the
   * drain of the first short. Rejects with `misconfigured` (`data.path`) for a `drainMs` that cannot be, and stops nothing then.
   */
  close(options?: CloseOptions): Promise<void>;
}

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Stops this listener alone. */
  close(): Promise<void>;
}
