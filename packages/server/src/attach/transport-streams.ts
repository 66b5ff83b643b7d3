import type { Clock } from "@taskbridge/core";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "../session/channel.ts";
import type { RequestId } from "../session/client-link.ts";
import type { SdkTransport } from "./sdk-server.ts";

/** The streams that somebody else's transport has open. */
export interface TransportStreams {
  /** The session's own, if it is open. */
  own(): Channel | undefined;
  channelOf(requestId: RequestId): Channel;
  /** A request is answered, or its client has taken it back. */
  settle(requestId: RequestId): void;
  close(): void;
}

/** The SDKs do not tell when a stream is gone, so it is looked at (milliseconds). */
const checkMs = 1_000;

/** The parts of both SDKs' Streamable HTTP transports that tell which streams are open. */
interface StreamMaps {
  readonly _streamMapping?: unknown;
  readonly _requestToStreamMapping?: unknown;
  readonly _standaloneSseStreamId?: string;
}

/** A transport without such maps is one pipe, which is open as long as it is connected. */
export const watchStreams = (
  transport: SdkTransport | undefined,
  closed: AbortSignal,
  { clock, stopping }: Pick<ServeContext, "clock" | "stopping">,
): TransportStreams => {
  const outer = transport as (StreamMaps & { readonly _webStandardTransport?: StreamMaps }) | undefined;
  const maps = outer?._webStandardTransport ?? outer;
  const streams = maps?._streamMapping;
  const requests = maps?._requestToStreamMapping;
  if (!(streams instanceof Map && requests instanceof Map)) return onePipe(transport !== undefined, closed);
  const watched = new Map<RequestId, WatchedStream>();
  let own: WatchedStream | undefined;
  const findOwn = (): unknown => streams.get(maps?._standaloneSseStreamId ?? "_GET_stream");
  return {
    own: () => {
      if (findOwn() === undefined) return undefined;
      if (own?.isOpen() !== true) own = watchStream(undefined, findOwn, { closed, clock, stopping });
      return own.channel;
    },
    channelOf: (id) => {
      const known = watched.get(id);
      if (known !== undefined) return known.channel;
      const forget = (): void => void watched.delete(id);
      const stream = watchStream(id, () => streams.get(requests.get(id)), { closed, clock, stopping, forget });
      watched.set(id, stream);
      return stream.channel;
    },
    settle: (id) => watched.get(id)?.settle(),
    close: () => {
      for (const stream of [...watched.values(), own]) stream?.stop();
      watched.clear();
    },
  };
};

const onePipe = (isConnected: boolean, closed: AbortSignal): TransportStreams => {
  const own: Channel = { on: undefined, closed, isReady: () => true };
  return {
    own: () => (isConnected ? own : undefined),
    channelOf: (id) => ({ ...own, on: id }),
    settle: () => {},
    close: () => {},
  };
};

interface WatchedStream {
  readonly channel: Channel;
  isOpen(): boolean;
  /** What was sent on it counts as taken, also once it is closed. */
  settle(): void;
  /** Looks no more: its session has ended. */
  stop(): void;
}

interface WatchParts {
  readonly closed: AbortSignal;
  readonly clock: Clock;
  /** Then nobody looks any more, and nothing keeps the process. */
  readonly stopping: AbortSignal;
  /** Called when the stream has closed. */
  readonly forget?: () => void;
}

/** Looks whether a stream is still there until it is not. Another one in its place is not the same. */
const watchStream = (on: RequestId | undefined, find: () => unknown, parts: WatchParts): WatchedStream => {
  const { closed, clock, stopping, forget } = parts;
  const gone = new AbortController();
  const stream = find();
  let isSettled = false;
  let stop: () => void = () => {};
  const isOpen = (): boolean => stream !== undefined && find() === stream && !gone.signal.aborted;
  const check = (): void => {
    stop = clock.schedule(checkMs, () => {
      if (isOpen() && !closed.aborted && !stopping.aborted) return check();
      forget?.();
      close();
    });
  };
  const close = (): void => gone.abort(new Error("the stream is closed"));
  if (closed.aborted) close();
  else check();
  const channel: Channel = {
    on,
    closed: gone.signal,
    isReady: () => isSettled || isOpen(),
  };
  return {
    channel,
    isOpen,
    settle: () => {
      isSettled = true;
    },
    stop: () => {
      stop();
      close();
    },
  };
};
