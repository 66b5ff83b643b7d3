import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type TaskClient, taskClient } from "@taskbridge/client";

/** `legacy`: as clients before 2026-07-28 connect, which SEP-1686 needs. */
export const connect = async (url: string, mode: "auto" | "legacy"): Promise<TaskClient> => {
  const open = async (): Promise<Client> => {
    const client = new Client({ name: "surveyor", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  };
  return taskClient(await open(), { reconnect: open });
};
