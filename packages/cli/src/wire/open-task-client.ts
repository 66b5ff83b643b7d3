import { isTaskClientError, type TaskClient, type TaskClientOptions, taskClient } from "@taskbridge/client";
import { CliError } from "../cli-error.ts";
import {
  type Connection,
  type ConnectionOptions,
  clientInfo,
  openConnection,
  type ServerAddress,
} from "./open-connection.ts";
import { toTrouble } from "./to-cli-error.ts";
import type { CallWire } from "./wire-names.ts";

export interface OpenOptions extends ServerAddress {
  readonly wire: CallWire;
  /** Whether there is a person to put questions to. */
  readonly asks: boolean;
  /** Told when the server cannot be reached for a while. */
  onTrouble(message: string): void;
}

export interface OpenTaskClient {
  readonly calls: TaskClient;
  /** The tasks that servers without `calls` of tasks hand out when they have waited long enough, where they can be read. */
  readonly handles?: TaskClient;
  close(): Promise<void>;
}

/** Connects in the way that the wire needs. Rejects with a `CliError`. */
export const openTaskClient = async (options: OpenOptions): Promise<OpenTaskClient> => {
  const { wire } = options;
  if (wire === "2026-07-28") return openOver(options, { pin: wire }, wire);
  if (wire === "2025-11-25" || wire === "sep-1686") return openOver(options, "legacy", wire);
  const first = await openOver(options, "auto", wire);
  if (wire === "none") return first;
  if (first.calls.wire !== "none") return first;
  // A server may speak both revisions and have tasks in the older one only.
  const older = await openOlder(options);
  if (older === undefined) return first;
  await first.close();
  return older;
};

/** Undefined where the server has no tasks in it, or does not speak the older revision. */
const openOlder = async (options: OpenOptions): Promise<OpenTaskClient | undefined> => {
  try {
    return await openOver(options, "legacy", "2025-11-25");
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
};

const openOver = async (
  options: OpenOptions,
  mode: ConnectionOptions["mode"],
  wire: CallWire,
): Promise<OpenTaskClient> => {
  const open = (): Promise<Connection> =>
    openConnection(options, { mode, asks: options.asks, onTrouble: options.onTrouble });
  let current = await open();
  const clientOptions: TaskClientOptions = {
    clientInfo,
    onUnreachable: (error) => options.onTrouble(toTrouble(error, options.url)),
    reconnect: async () => {
      current = await open();
      return current.client;
    },
  };
  const made: TaskClient[] = [];
  const close = async (): Promise<void> => {
    for (const client of made) await client.close();
    await current.close();
  };
  const make = (name: CallWire): TaskClient | undefined => {
    try {
      const client = taskClient(current.client, { ...clientOptions, wire: name });
      made.push(client);
      return client;
    } catch (error) {
      if (isTaskClientError(error, "unsupported")) return undefined;
      throw error;
    }
  };
  const calls = make(wire);
  if (calls === undefined) {
    await close();
    const what = wire === "2026-07-28" ? `the tasks extension of ${wire}` : `the tasks of ${wire}`;
    throw new CliError(`${options.url}: the server does not offer ${what}`);
  }
  const handles = wire === "none" ? make("2026-07-28") : undefined;
  return { calls, close, ...(handles === undefined ? {} : { handles }) };
};
