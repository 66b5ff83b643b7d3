import { TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { isObject } from "./is-object.ts";
import type { SdkClient, SdkTransport } from "./sdk-client.ts";
import { type Tap, type TapListener, tapTransport } from "./tap-transport.ts";
import { toClientError } from "./to-client-error.ts";

/** A connected client that we hear with. */
export interface Session {
  readonly client: SdkClient;
  readonly tap: Tap;
}

/** The session of now, and the next one when it is lost. */
export interface SessionHolder {
  current(): Session;
  /** However many requests find a session lost, one opens the next. Rejects with `session_lost` where there is no next. */
  replace(lost: Session): Promise<Session>;
  /** Leaves the client that was passed in, and closes any other. */
  close(reason: TaskClientError): Promise<void>;
}

export interface SessionOptions {
  readonly legacy: boolean;
  readonly clock: Clock;
  reconnect?(): Promise<SdkClient>;
  readonly listener: TapListener;
  readonly closing: AbortSignal;
}

/** Throws `invalid_input` for a client that is not connected. */
export const sessionHolder = (first: SdkClient, options: SessionOptions): SessionHolder => {
  const { legacy, clock, reconnect, listener, closing } = options;
  const open = (client: SdkClient): Session => ({
    client,
    tap: tapTransport(transportOf(client), { legacy, clock }, listener),
  });
  let current = open(first);
  let opening: Promise<Session> | undefined;
  const openNext = async (connect: () => Promise<SdkClient>, lost: Session): Promise<Session> => {
    const client = await connect().catch((error: unknown) => {
      const failed = toClientError(error, false);
      // Whatever was wanted of the session was not asked.
      throw new TaskClientError(failed.code, failed.message, { ...failed, notSent: true, cause: error });
    });
    if (closing.aborted) {
      await leave(client);
      throw closing.reason;
    }
    current = open(client);
    lost.tap.remove(new TaskClientError("unreachable", "the connection was replaced"));
    // Else its stream would keep the process alive, and ask again for what nobody hears.
    void leave(lost.client);
    return current;
  };
  return {
    current: () => current,
    replace: async (lost) => {
      closing.throwIfAborted();
      if (current !== lost) return current;
      if (reconnect === undefined) {
        throw new TaskClientError("session_lost", "the session is lost, and taskClient was given no `reconnect`");
      }
      opening ??= openNext(reconnect, lost).finally(() => {
        opening = undefined;
      });
      return opening;
    },
    close: async (reason) => {
      current.tap.remove(reason);
      if (current.client !== first) await leave(current.client);
    },
  };
};

/** There is nothing to do where a client cannot even be closed. */
const leave = (client: SdkClient): Promise<void> => client.close().catch(() => {});

export const transportOf = (client: SdkClient): SdkTransport => {
  if (isObject(client?.transport)) return client.transport as unknown as SdkTransport;
  throw new TaskClientError(
    "invalid_input",
    "the client is not connected: a `Client` of @modelcontextprotocol/sdk or @modelcontextprotocol/client is needed, after its `connect`",
  );
};
