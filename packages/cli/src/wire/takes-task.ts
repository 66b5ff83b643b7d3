import { listed } from "./listed.ts";
import type { Members } from "./members.ts";
import type { Request } from "./task-requests.ts";

/**
 * Whether a call of a tool may become a task on 2025-11-25, which the tool itself says. One that is not there is the
 * call's to refuse.
 */
export const takesTask = async (request: Request, name: string, signal: AbortSignal): Promise<boolean> => {
  for await (const tool of listed(request, "tools/list", "tools", { signal })) {
    if (tool["name"] !== name) continue;
    const support = (tool["execution"] as Members | undefined)?.["taskSupport"];
    return support === "optional" || support === "required";
  }
  return false;
};
