import type { TaskQuestion, TaskView } from "@taskbridge/core";
import type { SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { ClientLink } from "./client-link.ts";
import type { SessionChannels } from "./session-channels.ts";

/** What the questions to one client share. */
export interface DispatcherParts {
  readonly serve: ServeContext;
  readonly link: ClientLink;
  readonly channels: SessionChannels;
  /** Whether a task is the SEP-1686 draft's to this client. */
  isSep1686(view: TaskView): boolean;
  readonly capabilities: () => SessionCapabilities;
  /** Fires when the client can no longer be reached. */
  readonly closed: AbortSignal;
}

/** One question that is put to a client. */
export interface AskedOnce {
  readonly parts: DispatcherParts;
  /** Who claims it. */
  readonly by: string;
  readonly taskId: string;
  readonly owner: Owner;
  readonly question: TaskQuestion;
  readonly isSep1686: boolean;
}
