import { setMaxListeners } from "node:events";
import type { TaskView } from "@taskbridge/core";
import { readCapabilities, type SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "./channel.ts";
import { isDraftsTask } from "./choose-task-wire.ts";
import type { ClientLink, RequestId } from "./client-link.ts";
import { createQuestionDispatcher } from "./question-dispatcher.ts";
import { createSep1686Calls } from "./sep1686-calls.ts";
import type { Session2025, TaskWire } from "./session-2025.ts";
import { createSessionChannels } from "./session-channels.ts";
import { createTaskWatch } from "./task-watch.ts";

export interface SessionParts {
  readonly link: ClientLink;
  /** The stream of one request; absent: the connection has but one, which is open as long as the session. */
  readonly channelOf?: (requestId: RequestId) => Channel;
  /** Whether the session's own stream is open, where nobody tells when it opens. */
  readonly own?: () => Channel | undefined;
  /** As in `Session2025`. */
  readonly name?: string;
  readonly closed: AbortSignal;
}

/** A session with what its `initialize` said filled in as it arrives. */
export interface OpenedSession extends Session2025 {
  /** The client has introduced itself. */
  introduce(capabilities: unknown, revision: string | undefined): void;
}

export const openSession = (serve: ServeContext, parts: SessionParts): OpenedSession => {
  const { link, closed } = parts;
  // Every question and every stream listens.
  setMaxListeners(0, closed);
  let declared: SessionCapabilities = readCapabilities(undefined);
  let revision: string | undefined;
  const channels = createSessionChannels(parts.own);
  const capabilities = (): SessionCapabilities => declared;
  const spoken = new Set<TaskWire>();
  const isSep1686 = (view: TaskView): boolean =>
    isDraftsTask(serve, { spoken, revision: () => revision, name: parts.name }, view);
  const dispatcher = createQuestionDispatcher({ serve, link, channels, isSep1686, capabilities, closed });
  const watch = createTaskWatch({ serve, link, channels, dispatcher, capabilities, name: parts.name, closed });
  return {
    link,
    name: parts.name,
    capabilities,
    revision: () => revision,
    channels,
    watch,
    draft: createSep1686Calls(),
    spoken,
    hasGivenUp: dispatcher.hasGivenUp,
    closed,
    channelOf: parts.channelOf ?? ((on) => ({ on, closed, isReady: () => true })),
    introduce: (sent, negotiated) => {
      declared = readCapabilities(sent);
      revision = negotiated;
    },
  };
};
