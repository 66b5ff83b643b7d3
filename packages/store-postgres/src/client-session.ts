import { connect } from "node:net";
import type { Client } from "pg";

const cancelMs = 2_000;
const cancelCode = 80_877_102;

/** What `pg` knows of a connection and leaves out of its types. */
interface WithSession {
  readonly processID?: number | null;
  readonly secretKey?: number | null;
  readonly connection: { readonly stream: { destroy(): void; unref?(): void } };
}

/** By what the server, or a pooler in its stead, knows the session of a connection. */
export const sessionOf = (client: Client): { readonly processId: number; readonly secret: number } | undefined => {
  const { processID, secretKey } = client as unknown as WithSession;
  if (typeof processID !== "number" || typeof secretKey !== "number") return undefined;
  return { processId: processID, secret: secretKey };
};

/**
 * Asks the server to give up what a connection is doing, which closing that connection would not: a session that waits for
 * a lock notices nothing of that. Best effort, on a connection of its own, as the protocol has it.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export const sendCancelRequest = (client: Client): void => {
  const session = sessionOf(client);
  if (session === undefined) return;
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, cancelCode, session.processId, session.secret].entries())
    request.writeInt32BE(value, index * 4);
  const isSocket = client.host.startsWith("/");
  const socket = connect(
    isSocket ? { path: `${client.host}/.s.PGSQL.${client.port}` } : { host: client.host, port: client.port },
  );
  socket.unref();
  socket.setTimeout(cancelMs, () => socket.destroy());
  // Whoever cannot be reached to be told has nothing to give up.
  socket.on("error", () => socket.destroy());
  socket.end(request);
};

/** Closes its connection without waiting for anybody. */
export const destroyClient = (client: Client): void => {
  (client as unknown as WithSession).connection.stream.destroy();
};

/** Its connection alone keeps no process alive. */
export const unrefClient = (client: Client): void => {
  (client as unknown as WithSession).connection.stream.unref?.();
};
