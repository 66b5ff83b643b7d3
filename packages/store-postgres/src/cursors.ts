import type { TaskStore } from "@taskbridge/core/store";
import type { StoreParts } from "./store-parts.ts";
import { toKey } from "./to-key.ts";
import { toOnPrimary } from "./to-on-primary.ts";

export const createCursors = ({
  connection: { query },
  schema,
}: StoreParts): Pick<TaskStore, "saveCursor" | "loadCursor"> => ({
  saveCursor: async (name, cursor, previous) => {
    const [row] = await query<{ readonly saved: boolean }>("saveCursor", {
      text: `SELECT ${schema}.save_cursor($1, $2, $3) AS saved`,
      values: [toKey(name), JSON.stringify(cursor), previous === undefined ? null : JSON.stringify(previous)],
    });
    return row?.saved === true;
  },
  loadCursor: async (name) => {
    const [row] = await query<{ readonly cursor: string }>("loadCursor", {
      text: `SELECT cursor FROM ${schema}.cursors WHERE name = $1 AND ${toOnPrimary(schema)}`,
      values: [toKey(name)],
      isRead: true,
    });
    return row && JSON.parse(row.cursor);
  },
});
