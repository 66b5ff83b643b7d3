import type { TaskQuestion } from "@taskbridge/core";
import type { SessionCapabilities } from "@taskbridge/protocol/rev-2025-11-25";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "./channel.ts";
import type { ClientLink } from "./client-link.ts";
import type { SessionChannels } from "./session-channels.ts";

/** What the questions to one client share. */
export interface DeskParts {
  readonly serve: ServeContext;
  readonly link: ClientLink;
  readonly channels: SessionChannels;
  /** A request about a task, as it goes out on this stream. */
  relate(params: object, on: Channel): object;
  readonly capabilities: () => SessionCapabilities;
  /** Fires when the client can no longer be reached. */
  readonly closed: AbortSignal;
}

/** One question that is put to a client. */
export interface AskedOnce {
  readonly parts: DeskParts;
  /** Who claims it. */
  readonly by: string;
  readonly taskId: string;
  readonly owner: Owner;
  readonly question: TaskQuestion;
}
