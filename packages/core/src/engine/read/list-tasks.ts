import { BridgeError } from "../../contract/bridge-error.ts";
import type { ListFilter, ListPage } from "../../contract/task-store.ts";
import type { EngineContext } from "../context/engine-context.ts";
import type { Access } from "../context/ownership.ts";

/** The most tasks that one page holds, whatever is asked. */
const largestPage = 100;

/** See `TaskEngine.listTasks`. */
export const listTasks = async (
  engine: EngineContext,
  access: Access,
  filter: ListFilter,
  cursor: string | undefined,
  limit: number,
): Promise<ListPage> => {
  if ("owner" in access && access.owner === null) {
    throw new BridgeError(
      "unsupported",
      "tasks can be listed only where callers are authenticated, and this server does not authenticate them",
    );
  }
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new BridgeError("invalid_input", `limit: a whole number of at least 1 is needed, got ${limit}`, {
      data: { path: "limit" },
    });
  const page = await engine.store.list(access, filter, cursor, Math.min(limit, largestPage));
  // What was deleted is gone for its owner, also where expired tasks are asked for. That may leave a page empty that has a
  // cursor, as `TaskEngine.listTasks` says.
  return "operator" in access ? page : { ...page, records: page.records.filter(({ deleted }) => deleted !== true) };
};
