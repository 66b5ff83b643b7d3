import { setMaxListeners } from "node:events";
import { BridgeError, withSignal } from "@taskbridge/core/adapter";
import { type ConnectionOptions, connect } from "./connect.ts";
import { guardRequests } from "./guard-requests.ts";
import type { ExecutionsClient } from "./sdk.ts";
import { toCredentialsError } from "./to-credentials-error.ts";
import { type CallDetails, toError } from "./to-error.ts";
import { withoutLookupWarning } from "./without-lookup-warning.ts";

export interface Connection {
  /** Runs one call with a client that has credentials. Rejects with a `BridgeError`, and promptly once the signal fires. */
  run<Value>(
    location: CallDetails,
    signal: AbortSignal,
    work: (client: ExecutionsClient) => Promise<Value>,
  ): Promise<Value>;
  /** Gives up what is under way. Does nothing to a client that was given. */
  close(): void;
}

const unsent = ({ action }: CallDetails): BridgeError =>
  new BridgeError("unavailable", `${action} was given up before it was sent`, { notSent: true });

/** Google's client, loaded and made at the first call, and made anew once its credentials are refused. `client`: used as it is. */
export const connection = (options: ConnectionOptions): Connection => {
  let opening: Promise<ExecutionsClient> | undefined;
  let giveUpAll = (): void => {};

  const open = async (): Promise<ExecutionsClient> => {
    const client = options.client ?? (await connect(options));
    if (options.client === undefined) giveUpAll = guardRequests(client.auth);
    // First, since a client keeps the failure of its own attempt, and throws it where nobody can catch it.
    await withoutLookupWarning(async () => {
      // One that was made with `authClient` has that in its place.
      if (typeof client.auth.getClient === "function") await client.auth.getClient();
    });
    await client.initialize();
    return client;
  };

  /** The next call makes another one: credentials are read and exchanged anew. */
  const forget = (attempt: Promise<ExecutionsClient> | undefined): void => {
    if (opening === attempt) opening = undefined;
  };

  /** A client that is known to have credentials, so that what fails next is the call itself. */
  const ready = async (location: CallDetails): Promise<ExecutionsClient> => {
    opening ??= open();
    const attempt = opening;
    try {
      const client = await attempt;
      await client.auth.getRequestHeaders();
      return client;
    } catch (error) {
      forget(attempt);
      throw error instanceof BridgeError ? error : toCredentialsError(error, location, options);
    }
  };

  const run: Connection["run"] = async <Value>(
    location: CallDetails,
    signal: AbortSignal,
    work: (client: ExecutionsClient) => Promise<Value>,
  ): Promise<Value> => {
    let attempt: typeof opening;
    let isSent = false;
    try {
      // One look makes hundreds of calls at once by one signal.
      setMaxListeners(0, signal);
      // Google's client takes no signal.
      return await withSignal(signal, async () => {
        const client = await ready(location);
        attempt = opening;
        if (signal.aborted) throw unsent(location);
        isSent = true;
        return await work(client);
      });
    } catch (error) {
      if (!isSent) throw error instanceof BridgeError ? error : unsent(location);
      const known = toError(error, location);
      if (known.data?.googleStatus === "UNAUTHENTICATED") forget(attempt);
      throw known;
    }
  };

  return {
    run,
    close: () => {
      if (options.client !== undefined) return;
      giveUpAll();
      opening?.then(
        (client) => client.close(),
        () => {},
      );
    },
  };
};
