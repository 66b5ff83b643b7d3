import type { Call } from "../call.ts";
import type { Callback } from "../callback.ts";
import { exhausted, GoogleError, notFound, unauthenticated } from "../google-error.ts";
import { readPage, readPageSize } from "../page.ts";
import { resolveExecution, toLocation, type World } from "../world.ts";
import { toExecutionName } from "./to-execution.ts";

/**
 * "Active callbacks that belong to the execution", "ordered by callback ID", at most 100 a page. That they stay until the
 * execution ends, and that there are none after it, is assumed.
 */
export const listCallbacks = (world: World, { resource, query }: Call): object => {
  const execution = resolveExecution(world, resource);
  const playing = execution.performance();
  const isOpen = execution.now().endedAt === undefined;
  const all = playing === undefined || !isOpen ? [] : [...playing.callbacks.values()].sort(byId);
  const pages = readPage(resource, query.get("pageToken"));
  const from = pages.from ?? 0;
  const end = from + readPageSize(query.get("pageSize"), 100, 100);
  const page = all.slice(from, end);
  const parent = `${toExecutionName(world, execution)}/${world.callbackSegment}`;
  return {
    ...(page.length === 0 ? {} : { callbacks: page.map((one) => toCallbackJson(one, parent)) }),
    ...(end < all.length ? { nextPageToken: pages.next(end) } : {}),
  };
};

const byId = (one: Callback, other: Callback): number => (one.id < other.id ? -1 : 1);

/** `waiters` is an int64, so text, and is left out at 0, as all that is empty. What a payload's text holds is assumed. */
const toCallbackJson = ({ id, method, slot, waiters }: Callback, parent: string): object => ({
  name: `${parent}/${id}`,
  method,
  ...(slot === undefined ? {} : { availablePayloads: [slot.body] }),
  ...(waiters === 0 ? {} : { waiters: String(waiters) }),
});

/**
 * Needs an OAuth token with `workflows.callbacks.send`. 429 while an earlier request has not been processed, 404 once the
 * execution is over: https://cloud.google.com/workflows/docs/creating-callback-endpoints. "If successful, the response
 * body is empty." The answer to another HTTP method is assumed.
 */
export const sendHttpCallback = (world: World, { resource, token, httpMethod, body, contentType }: Call): undefined => {
  if (token === undefined) throw unauthenticated();
  const execution = resolveExecution(world, resource);
  const playing = execution.performance();
  const id = resource.split("/").at(-1);
  const callback = [...(playing?.callbacks.values() ?? [])].find((one) => one.id === id);
  if (callback === undefined || execution.now().endedAt !== undefined) throw notFound();
  if (callback.method !== httpMethod)
    throw new GoogleError("INVALID_ARGUMENT", `The callback expects ${callback.method}, not ${httpMethod}.`);
  if (callback.slot !== undefined) throw exhausted("The callback has a request that was not processed yet.");
  execution.deliver(callback, { method: httpMethod, body, contentType });
  world.quietUntil.delete(toLocation(world, resource));
  return undefined;
};
