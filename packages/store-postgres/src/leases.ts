import { randomUUID } from "node:crypto";
import type { Lease, TaskStore } from "@taskbridge/core/store";
import type { StoreParts } from "./store-parts.ts";
import { toKey } from "./to-key.ts";

/** Timed by the server's clock alone. */
export const createLeases = ({ connection: { query }, schema }: StoreParts): Pick<TaskStore, "lease"> => {
  const take = `INSERT INTO ${schema}.leases AS held (name, holder, until)
    VALUES ($1, $2, ${schema}.now_ms() + $3::double precision)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE held.until <= ${schema}.now_ms()
    RETURNING name`;
  const extend = `UPDATE ${schema}.leases SET until = ${schema}.now_ms() + $3::double precision
    WHERE name = $1 AND holder = $2 AND until > ${schema}.now_ms() RETURNING name`;
  const giveBack = `DELETE FROM ${schema}.leases WHERE name = $1 AND holder = $2`;

  return {
    lease: async (name, ttlMs): Promise<Lease | undefined> => {
      const [key, holder] = [toKey(name), randomUUID()];
      const isDone = async (text: string): Promise<boolean> =>
        (await query("lease", { text, values: [key, holder, ttlMs] })).length === 1;
      if (!(await isDone(take))) return undefined;
      return {
        renew: () => isDone(extend),
        release: async () => {
          await query("lease", { text: giveBack, values: [key, holder] });
        },
      };
    },
  };
};
