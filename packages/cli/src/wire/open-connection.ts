import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  type ClientOptions,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Answers } from "../task-source.ts";
import type { Members } from "./members.ts";
import { clientCapabilities, clientInfo, toCliError } from "./task-requests.ts";
import { toElicitResult } from "./to-questions.ts";

export interface ServerAddress {
  readonly url: URL;
  /** Sent as a bearer token. */
  readonly token?: string;
}

/** Answers what the server asks by a request; undefined dismisses it. The signal fires when the server takes it back. */
export type Elicit = (params: Members, signal: AbortSignal) => Promise<Answers[string] | undefined>;

export interface ConnectionOptions {
  readonly mode: NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;
  /** Absent: the server is told that nobody can be asked. */
  readonly elicit?: Elicit;
}

export interface Connection {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Also ends the session, where there is one. */
  close(): Promise<void>;
}

/** A server that does not answer keeps nobody from ending (milliseconds). */
const farewellMs = 1_000;

/** Connects to an MCP server over HTTP. Rejects with a `CliError`. */
export const openConnection = async (
  { url, token }: ServerAddress,
  { mode, elicit }: ConnectionOptions,
): Promise<Connection> => {
  const client = new Client(clientInfo, {
    capabilities: elicit === undefined ? {} : clientCapabilities,
    versionNegotiation: { mode },
  });
  if (elicit !== undefined) {
    client.setRequestHandler(
      "elicitation/create",
      async ({ params }, { mcpReq }) => toElicitResult(await elicit(params as Members, mcpReq.signal)) as ElicitResult,
    );
  }
  const transport = new StreamableHTTPClientTransport(
    url,
    token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } },
  );
  try {
    await client.connect(transport);
  } catch (error) {
    throw toCliError(error, url);
  }
  return {
    client,
    transport,
    close: async () => {
      // Where this fails, the server ends the session by itself once it is not used.
      await Promise.race([transport.terminateSession().catch(() => {}), sleep(farewellMs, undefined, { ref: false })]);
      await client.close();
    },
  };
};
