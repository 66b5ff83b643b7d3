import type { Clock } from "@taskbridge/core";
import type { Channel } from "../legacy/channel.ts";
import type { RequestId } from "../legacy/client-link.ts";
import { type OpenedSession, openSession } from "../legacy/open-session.ts";
import { toClientLink } from "../legacy/sdk-link.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { SdkServer, SdkTransport } from "./sdk-server.ts";

/** The session of whoever is connected to somebody else's server at present. */
export interface AttachedSession {
  current(): OpenedSession;
  /** A request is answered: its stream is not looked after any more. */
  settle(requestId: RequestId): void;
  /** A connection begins. */
  connect(transport: SdkTransport): void;
}

/** The SDKs do not tell when a stream is gone, so it is looked at (milliseconds). */
const lookMs = 1_000;

export const attachSession = (serve: ServeContext, server: SdkServer): AttachedSession => {
  const link = toClientLink(server);
  let session: OpenedSession | undefined;
  let streams: TransportStreams | undefined;
  const open = (transport: SdkTransport | undefined): OpenedSession => {
    const closed = new AbortController();
    streams?.close();
    streams = watchStreams(transport, closed.signal, serve.clock);
    if (transport !== undefined) {
      const before = transport.onclose;
      transport.onclose = () => {
        closed.abort(new Error("the session has ended"));
        before?.();
      };
    }
    const { channelOf, own } = streams;
    session = openSession(serve, { link, closed: closed.signal, channelOf, own });
    return session;
  };
  return {
    current: () => session ?? open(undefined),
    settle: (requestId) => streams?.settle(requestId),
    connect: (transport) => void open(transport),
  };
};

/** The parts of both SDKs' Streamable HTTP transports that tell which streams are open. */
interface StreamMaps {
  readonly _streamMapping?: unknown;
  readonly _requestToStreamMapping?: unknown;
  readonly _standaloneSseStreamId?: string;
}

interface TransportStreams {
  own(): Channel | undefined;
  channelOf(requestId: RequestId): Channel;
  settle(requestId: RequestId): void;
  close(): void;
}

interface WatchedStream {
  readonly channel: Channel;
  /** Stops looking. */
  cancel: () => void;
}

/** A transport without such maps is one pipe, which is open as long as it is connected. */
const watchStreams = (transport: SdkTransport | undefined, closed: AbortSignal, clock: Clock): TransportStreams => {
  const outer = transport as (StreamMaps & { readonly _webStandardTransport?: StreamMaps }) | undefined;
  const maps = outer?._webStandardTransport ?? outer;
  const streams = maps?._streamMapping;
  const requests = maps?._requestToStreamMapping;
  const isPipe = transport !== undefined && !(streams instanceof Map);
  const isOwnOpen = (): boolean =>
    isPipe || (streams instanceof Map && streams.has(maps?._standaloneSseStreamId ?? "_GET_stream"));
  const isOpen = (id: RequestId): boolean =>
    !(streams instanceof Map && requests instanceof Map) || streams.has(requests.get(id));
  const watched = new Map<RequestId, WatchedStream>();
  const watch = (id: RequestId): Channel => {
    const gone = new AbortController();
    const look = (): void => {
      stream.cancel = clock.schedule(lookMs, () => {
        if (isOpen(id) && !closed.aborted) return look();
        watched.delete(id);
        gone.abort(new Error("the stream is closed"));
      });
    };
    const channel = { on: id, closed: AbortSignal.any([closed, gone.signal]), isReady: () => isOpen(id) };
    const stream: WatchedStream = { channel, cancel: () => {} };
    look();
    watched.set(id, stream);
    return channel;
  };
  const ownChannel: Channel = { on: undefined, closed, isReady: isOwnOpen };
  return {
    own: () => (isOwnOpen() ? ownChannel : undefined),
    channelOf: (id) => {
      if (isPipe) return { on: id, closed, isReady: () => true };
      return watched.get(id)?.channel ?? watch(id);
    },
    settle: (id) => {
      watched.get(id)?.cancel();
      watched.delete(id);
    },
    close: () => {
      for (const { cancel } of watched.values()) cancel();
      watched.clear();
    },
  };
};
