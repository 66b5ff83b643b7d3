import { TaskClientError } from "../client-error.ts";
import { type Members, toMembers } from "../is-object.ts";

/** A server that always has another page never ends. */
const maxPages = 1_000;

/** Everything that a method lists under a name, page by page. Rejects with `bad_response` for pages that go in circles. */
export const listed = async function* (
  request: (method: string, params: Members) => Promise<Members>,
  method: string,
  name: string,
): AsyncGenerator<Members, void> {
  const seen = new Set<unknown>();
  for (let cursor: unknown; seen.size < maxPages; ) {
    const page = await request(method, cursor === undefined ? {} : { cursor });
    const items = page[name];
    if (!Array.isArray(items))
      throw new TaskClientError("bad_response", `${method}: the answer has no list of ${name}`);
    yield* items.map(toMembers);
    cursor = page["nextCursor"];
    if (cursor === undefined || cursor === null) return;
    if (seen.has(cursor)) throw new TaskClientError("bad_response", `${method}: the same cursor came twice`);
    seen.add(cursor);
  }
  throw new TaskClientError("bad_response", `${method}: more than ${maxPages} pages`);
};
