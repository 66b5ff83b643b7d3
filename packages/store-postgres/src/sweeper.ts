import type { Connection } from "./connection.ts";

/** Clears away lapsed keys and leases and the chunks of payloads that were dropped. */
export interface Sweeper {
  /** Piece by piece until nothing is left. Never rejects: what stays is swept later, or by another process. */
  sweep(): Promise<void>;
}

/** So many keys and leases at a time: some milliseconds of the server's. */
const atOnce = 500;

export const createSweeper = ({ query }: Connection, schema: string): Sweeper => {
  let sweeping: Promise<void> | undefined;

  const sweepAll = async (): Promise<void> => {
    const text = `SELECT "${schema}".sweep($1) AS more`;
    for (;;) {
      const [row] = await query<{ readonly more: boolean }>("sweep", { text, values: [atOnce] });
      if (row?.more !== true) return;
    }
  };

  return {
    sweep: () => {
      sweeping ??= sweepAll()
        .catch(() => undefined)
        .finally(() => {
          sweeping = undefined;
        });
      return sweeping;
    },
  };
};
