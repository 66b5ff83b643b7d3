import { type ListFilter, type ListScope, parseCursor } from "@taskbridge/core/store";
import { toKey } from "./to-key.ts";
import { toOnPrimary } from "./to-on-primary.ts";

/** A page's statement; one more row than asked tells whether there is a next page. Throws `invalid_input` for a foreign cursor. */
export const toListQuery = (
  schema: string,
  scope: ListScope,
  filter: ListFilter,
  cursor: string | undefined,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } => {
  const conditions: string[] = [toOnPrimary(schema)];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  // "IS NOT DISTINCT FROM" finds no index.
  if ("owner" in scope) conditions.push(scope.owner === null ? "owner IS NULL" : `owner = ${bind(toKey(scope.owner))}`);
  if (filter.adapterId !== undefined) conditions.push(`adapter_id = ${bind(toKey(filter.adapterId))}`);
  if (filter.tool !== undefined) conditions.push(`tool = ${bind(toKey(filter.tool))}`);
  if (filter.slotHeld !== undefined) conditions.push(filter.slotHeld ? "slot_held" : "NOT slot_held");
  if (filter.includeExpired !== true) conditions.push("NOT expired");
  if (cursor !== undefined) {
    const { createdAt, taskId } = parseCursor(cursor, scope, filter);
    conditions.push(`(created_at, task_id) < (${bind(createdAt)}, ${bind(taskId)})`);
  }
  const text = `SELECT record FROM ${schema}.tasks WHERE ${conditions.join(" AND ")} ORDER BY created_at DESC, task_id DESC LIMIT ${bind(limit + 1)}`;
  return { text, values };
};
