import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { version } from "../version.ts";
import { toConnectError, toUnready, toWait } from "./to-cli-error.ts";

export interface ServerAddress {
  readonly url: URL;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** Ends the wait for a server that takes no requests at present. */
  readonly signal?: AbortSignal;
}

export interface ConnectionOptions {
  readonly mode: NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;
  /** Whether there is a person to put questions to; otherwise the server is told that nobody can be asked. */
  readonly asks: boolean;
  /** Told once when the server takes no requests at present. */
  readonly onTrouble?: (message: string) => void;
}

export interface Connection {
  readonly client: Client;
  /** Also ends the session, where there is one. */
  close(): Promise<void>;
}

export const clientInfo: { readonly name: string; readonly version: string } = { name: "taskbridge", version };

/** As long as requests about tasks are tried (milliseconds). */
const patienceMs = 120_000;

/** A server that does not answer keeps nobody from ending (milliseconds). */
const farewellMs = 1_000;

/**
 * Connects to an MCP server over HTTP, also again while it says that it takes no requests at present (503): connecting begins nothing.
 * One that is not reached is not waited for: most likely the address is wrong. Rejects with a `CliError`.
 */
export const openConnection = async (address: ServerAddress, options: ConnectionOptions): Promise<Connection> => {
  const giveUpAt = performance.now() + patienceMs;
  for (let tries = 1; ; tries++) {
    try {
      return await connect(address, options);
    } catch (error) {
      const waitMs = toWait(error);
      if (waitMs === undefined || performance.now() + waitMs > giveUpAt) throw toConnectError(error, address.url);
      if (tries === 1) options.onTrouble?.(toUnready(error, address.url));
      await sleep(waitMs, undefined, { signal: address.signal });
    }
  }
};

const connect = async ({ url, token }: ServerAddress, { mode, asks }: ConnectionOptions): Promise<Connection> => {
  const client = new Client(clientInfo, {
    capabilities: asks ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode },
  });
  const transport = new StreamableHTTPClientTransport(
    url,
    token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } },
  );
  await client.connect(transport);
  return {
    client,
    close: async () => {
      // Where this fails, the server ends the session by itself once it is not used.
      await Promise.race([transport.terminateSession().catch(() => {}), sleep(farewellMs, undefined, { ref: false })]);
      await client.close();
    },
  };
};
