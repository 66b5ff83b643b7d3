import type { Members } from "./members.ts";
import type { Request } from "./task-requests.ts";

/**
 * Whether a call of a tool may become a task on 2025-11-25, which the tool itself says. One that is not there is the
 * call's to refuse.
 */
export const takesTask = async (request: Request, name: string, signal: AbortSignal): Promise<boolean> => {
  let cursor: unknown;
  do {
    const page: Members = await request("tools/list", cursor === undefined ? {} : { cursor }, { signal });
    const tool = (page["tools"] as Members[]).find((listed) => listed["name"] === name);
    const support = (tool?.["execution"] as Members | undefined)?.["taskSupport"];
    if (tool !== undefined) return support === "optional" || support === "required";
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return false;
};
