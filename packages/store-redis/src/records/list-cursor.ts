import { createHash } from "node:crypto";
import { BridgeError, type ListFilter, type ListScope } from "@taskbridge/core/store";

/** The last record of a page. */
export interface ListPosition {
  readonly createdAt: number;
  readonly taskId: string;
}

/** Ties the position to its listing and shows damage. Not a secret: the scope is applied again to every page. */
const sealOf = (position: ListPosition, scope: ListScope, filter: ListFilter): string => {
  const listing = [
    "operator" in scope ? ["operator"] : ["owner", scope.owner],
    filter.adapterId ?? null,
    filter.tool ?? null,
    filter.slotHeld ?? null,
    filter.includeExpired ?? false,
  ];
  const text = JSON.stringify([position.createdAt, position.taskId, listing]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
};

export const createCursor = (position: ListPosition, scope: ListScope, filter: ListFilter): string =>
  Buffer.from(JSON.stringify([position.createdAt, position.taskId, sealOf(position, scope, filter)])).toString(
    "base64url",
  );

/** Throws `invalid_input` for a text that `createCursor` did not make for the same scope and filter. */
export const parseCursor = (cursor: string, scope: ListScope, filter: ListFilter): ListPosition => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parsed) && typeof parsed[0] === "number" && typeof parsed[1] === "string") {
      const position = { createdAt: parsed[0], taskId: parsed[1] };
      if (parsed[2] === sealOf(position, scope, filter)) return position;
    }
  } catch {
    // Not JSON: the same answer as for any other text that is not ours.
  }
  throw new BridgeError("invalid_input", "the cursor is damaged or belongs to another listing", { operation: "list" });
};
