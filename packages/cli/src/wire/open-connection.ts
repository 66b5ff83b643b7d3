import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { version } from "../version.ts";
import { toConnectError } from "./to-cli-error.ts";

export interface ServerAddress {
  readonly url: URL;
  /** Sent as a bearer token. */
  readonly token?: string;
}

export interface ConnectionOptions {
  readonly mode: NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;
  /** Whether there is a person to put questions to; otherwise the server is told that nobody can be asked. */
  readonly asks: boolean;
}

export interface Connection {
  readonly client: Client;
  /** Also ends the session, where there is one. */
  close(): Promise<void>;
}

export const clientInfo: { readonly name: string; readonly version: string } = { name: "taskbridge", version };

/** A server that does not answer keeps nobody from ending (milliseconds). */
const farewellMs = 1_000;

/** Connects to an MCP server over HTTP. Rejects with a `CliError`. */
export const openConnection = async (
  { url, token }: ServerAddress,
  { mode, asks }: ConnectionOptions,
): Promise<Connection> => {
  const client = new Client(clientInfo, {
    capabilities: asks ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode },
  });
  const transport = new StreamableHTTPClientTransport(
    url,
    token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } },
  );
  try {
    await client.connect(transport);
  } catch (error) {
    throw toConnectError(error, url);
  }
  return {
    client,
    close: async () => {
      // Where this fails, the server ends the session by itself once it is not used.
      await Promise.race([transport.terminateSession().catch(() => {}), sleep(farewellMs, undefined, { ref: false })]);
      await client.close();
    },
  };
};
