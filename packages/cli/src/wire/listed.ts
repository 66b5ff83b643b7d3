import type { Members } from "./members.ts";
import type { Request, RequestLimits } from "./task-requests.ts";

/** Everything that a method of an MCP server lists under a name, page by page. */
export const listed = async function* (
  request: Request,
  method: string,
  name: string,
  limits: RequestLimits = {},
): AsyncGenerator<Members, void> {
  let cursor: unknown;
  do {
    const page: Members = await request(method, cursor === undefined ? {} : { cursor }, limits);
    yield* page[name] as Members[];
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
};
