import type { ServerCapabilities } from "@modelcontextprotocol/client";
import { type Connection, type Elicit, openConnection, type ServerAddress } from "./open-connection.ts";
import { type Request, SessionLost, taskRequests } from "./task-requests.ts";

/** The first revision with sessions that know tasks. */
export const legacyVersion = "2025-11-25";

/** A session of revision 2025-11-25. */
export interface LegacySession {
  /** Empty when the server only speaks an earlier revision. */
  readonly tasks: NonNullable<ServerCapabilities["tasks"]>;
  /** Opens another session when the server does not know this one any more: tasks outlive both. */
  readonly request: Request;
  close(): Promise<void>;
}

export const openLegacySession = async (address: ServerAddress, elicit?: Elicit): Promise<LegacySession> => {
  const open = async (): Promise<OpenSession> => {
    const connection = await openConnection(address, { mode: "legacy", ...(elicit === undefined ? {} : { elicit }) });
    return { connection, request: taskRequests(connection.transport, address.url) };
  };
  let current = await open();
  let opening: Promise<OpenSession> | undefined;
  /** However many requests find a session lost, one opens the next. */
  const replace = (lost: OpenSession): Promise<OpenSession> => {
    if (current !== lost) return Promise.resolve(current);
    opening ??= open()
      .then(async (next) => {
        current = next;
        await lost.connection.client.close();
        return next;
      })
      .finally(() => {
        opening = undefined;
      });
    return opening;
  };
  const { client } = current.connection;
  const knowsTasks = (client.getNegotiatedProtocolVersion() ?? "") >= legacyVersion;
  return {
    tasks: (knowsTasks ? client.getServerCapabilities()?.tasks : undefined) ?? {},
    request: async (method, params, options) => {
      const session = current;
      try {
        return await session.request(method, params, options);
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error;
        return (await replace(session)).request(method, params, options);
      }
    },
    close: () => current.connection.close(),
  };
};

interface OpenSession {
  readonly connection: Connection;
  readonly request: Request;
}
