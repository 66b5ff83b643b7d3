import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "../session/channel.ts";
import type { RequestId } from "../session/client-link.ts";
import { type OpenedSession, openSession } from "../session/open-session.ts";
import { toClientLink } from "../session/sdk-link.ts";
import type { SdkServer, SdkTransport } from "./sdk-server.ts";
import { type TransportStreams, watchStreams } from "./transport-streams.ts";

/** The session of whoever is connected to somebody else's server at present. */
export interface AttachedSession {
  current(): OpenedSession;
  /** A request is answered: its stream is not looked after any more. */
  settle(requestId: RequestId): void;
  /** A connection begins. */
  connect(transport: SdkTransport): void;
}

/** A connection as far as it is known before anything of 2025 is asked of it: many servers serve one other request. */
interface Connected {
  readonly transport: SdkTransport | undefined;
  /** Absent: it is open. */
  end?: Error;
  session?: OpenedSession;
  streams?: TransportStreams;
  /** The session's own stream that it has heard of. */
  own?: Channel | undefined;
  close?: (reason: Error) => void;
}

export const attachSession = (serve: ServeContext, server: SdkServer): AttachedSession => {
  let connected: Connected = { transport: undefined };
  const open = (connection: Connected): OpenedSession => {
    const closed = new AbortController();
    connection.close = (reason) => closed.abort(reason);
    if (connection.end !== undefined) connection.close(connection.end);
    connection.streams = watchStreams(connection.transport, closed.signal, serve);
    const { channelOf, own } = connection.streams;
    connection.session = openSession(serve, { link: toClientLink(server), closed: closed.signal, channelOf, own });
    return connection.session;
  };
  /** Neither do the SDKs tell when the session's own stream opens: it is noticed with the next request. */
  const attendOwn = (connection: Connected, session: OpenedSession): void => {
    const own = connection.streams?.own();
    if (own === connection.own) return;
    connection.own = own;
    if (own !== undefined) session.channels.openOwn(own);
  };
  return {
    current: () => {
      const session = connected.session ?? open(connected);
      attendOwn(connected, session);
      return session;
    },
    settle: (requestId) => connected.streams?.settle(requestId),
    connect: (transport) => {
      const connection: Connected = { transport };
      connected = connection;
      const before = transport.onclose;
      transport.onclose = () => {
        connection.end = new Error("the session has ended");
        connection.streams?.close();
        connection.close?.(connection.end);
        before?.();
      };
    },
  };
};
