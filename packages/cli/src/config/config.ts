import type { JsonObject, JsonValue, Limits, TaskPolicy } from "@taskbridge/core";
import type { CompanionsPolicy, WireLimits, WireName } from "@taskbridge/server";
import type { ConfigError } from "./config-error.ts";
import type { ConfigPath } from "./config-path.ts";

/** A configuration file, read, substituted and checked against the schema. Absent members mean the defaults. */
export interface Config {
  /** As the user wrote it. */
  readonly file: string;
  /** The absolute folder of the file: what relative paths are relative to. */
  readonly directory: string;
  readonly server: ServerSettings;
  readonly store: StoreEntry;
  readonly adapters: Readonly<Record<string, AdapterEntry>>;
  readonly tools: readonly ToolEntry[];
  readonly limits: LimitSettings;
  /** An error about one place of the file, with its line. */
  fault(path: ConfigPath, message: string): ConfigError;
  /** Turns an error that tells a path within `prefix` (`data.path`) into one about that place of the file. */
  rebase(error: unknown, prefix: ConfigPath): ConfigError;
  /** Hides what `${…}` put in. */
  redact(text: string): string;
}

export interface ServerSettings {
  readonly name?: string;
  /** What this process is called in its log. */
  readonly instance?: string;
  readonly instructions?: string;
  readonly wires?: readonly WireName[];
  readonly legacyErrorStatus?: "failed" | "completed";
  readonly companions?: CompanionsPolicy;
  readonly allowModelAnswers?: boolean;
  readonly waitMs?: number;
  readonly drainMs?: number;
  readonly http?: {
    readonly host?: string;
    readonly port?: number;
    readonly path?: string;
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
  };
  readonly auth?: { readonly tokens: string };
  readonly stateKey?: string;
}

/** Where tasks are kept. Written as its URL alone where nothing else is said of it. */
export interface StoreEntry {
  readonly url: string;
  /** Its place in the file. */
  readonly path: ConfigPath;
  /** What else is said of it, for its package to check. */
  readonly options: JsonObject;
}

export interface AdapterEntry {
  readonly use: string;
  readonly [option: string]: unknown;
}

export interface ToolEntry {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly adapter: string;
  readonly target: JsonValue;
  readonly input?: JsonObject;
  readonly output?: JsonObject;
  readonly annotations?: JsonObject;
  readonly task?: Partial<Omit<TaskPolicy, "dedupeWindowMs">> & { readonly dedupe?: { readonly windowMs?: number } };
}

export type LimitSettings = Partial<
  Pick<
    Limits,
    | "maxConcurrentTasksPerOwner"
    | "maxRetentionMs"
    | "tombstoneMs"
    | "maxInlineResultBytes"
    | "maxReasks"
    | "lostAfterMs"
  > &
    Pick<
      WireLimits,
      "maxBodyBytes" | "maxWaits" | "maxWaitsPerOwner" | "maxSessions" | "maxSessionsPerOwner" | "sessionIdleMs"
    >
>;

export const defaultStore = "sqlite:./taskbridge.db";
