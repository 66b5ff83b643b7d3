import { randomUUID } from "node:crypto";
import { BridgeError, within } from "@taskbridge/core/store";
import { Client, type ClientConfig } from "pg";
import type { ChangeNotice } from "./change-sender.ts";
import { destroyClient } from "./client-session.ts";
import type { Connection } from "./connection.ts";
import { toError } from "./to-error.ts";

/**
 * Sends a notice of nothing through the pooler and listens for it on the direct way. Rejects with `misconfigured` when it is not
 * heard, which nobody would notice otherwise but by waiting longer, and with `unavailable` when the server there does not answer.
 */
export const checkDirectUrl = async (
  connection: Connection,
  direct: ClientConfig,
  channel: string,
  timeoutMs: number,
): Promise<void> => {
  const client = new Client({ ...direct, connectionTimeoutMillis: timeoutMs });
  // What it tells, the statements under way reject with too.
  client.on("error", () => undefined);
  const origin = randomUUID();
  const received = new Promise<boolean>((resolve) => {
    client.on("notification", ({ payload }) => {
      if (payload?.includes(origin)) resolve(true);
    });
  });
  const location = `PostgreSQL at ${client.host}:${client.port}/${client.database} (directUrl)`;
  const ask = async (text: string): Promise<void> => {
    if ((await within(client.query(text), timeoutMs)) !== undefined) return;
    throw new BridgeError("unavailable", `${location} did not answer in time`, { operation: "open" });
  };
  try {
    await client.connect();
    await ask(`LISTEN "${channel}"`);
    const notice = JSON.stringify({ origin, taskIds: [] } satisfies ChangeNotice);
    await connection.query("open", { text: "SELECT pg_notify($1, $2)", values: [channel, notice] });
    if (await within(received, timeoutMs)) return;
    // Or does it stand still since?
    await ask("SELECT 1");
    throw new BridgeError(
      "misconfigured",
      "directUrl: what is told through url is not heard there; it must lead to the same database, and not through a pooler",
      { operation: "open", data: { path: "directUrl" } },
    );
  } catch (error) {
    throw toError(error, location, "open");
  } finally {
    destroyClient(client);
  }
};
