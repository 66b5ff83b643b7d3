import { setImmediate } from "node:timers/promises";
import { within } from "@taskbridge/core";
import type { HttpHandler } from "./http/http-handler.ts";
import type { HttpListener } from "./http/listen-http.ts";
import type { ServeContext } from "./mcp/serve-context.ts";
import type { StdioConnection } from "./open-stdio.ts";
import type { TaskServerOptions } from "./task-server-options.ts";

export interface RunningParts {
  readonly serve: ServeContext;
  readonly stopping: AbortController;
  readonly handlers: ReadonlySet<HttpHandler>;
  readonly listeners: ReadonlySet<HttpListener>;
  readonly connections: ReadonlySet<StdioConnection>;
  readonly options: TaskServerOptions;
}

/** How long calls under way have for their answers (milliseconds). */
const answersMs = 4_000;
/** How long everything together has. */
const allMs = 10_000;

/**
 * The first part of a stop that is announced: whoever asks is told that this server is leaving, whose requests are still served,
 * and what it does by itself is left to others who share the store. What waits for news stays until the end: whoever comes back
 * before a balancer has heard would come here again.
 */
export const drainServer = async ({ serve, listeners, options }: RunningParts, over: Promise<void>): Promise<void> => {
  for (const listener of listeners) listener.leave();
  if (options.store.shared) {
    serve.engine.rest().catch((error: unknown) => serve.log.error({ err: error }, "the engine could not rest"));
  }
  await over;
  await Promise.all([...listeners].map((listener) => listener.quiet()));
};

/**
 * Stops a server without stopping a task. From the first moment on a closing connection counts as closed by us; calls
 * that wait get what there is to tell, subscriptions their end; then connections are closed, at last engine and store.
 */
export const stopServer = async (parts: RunningParts): Promise<void> => {
  const { log } = parts.serve;
  parts.stopping.abort();
  // Real time: a stop must come to an end, whatever clock the server runs by.
  const isDone = await within(
    stopInOrder(parts).then(() => true),
    allMs,
  );
  if (!isDone) log.warn({}, `the server did not stop within ${allMs} ms; what is left is given up`);
};

const stopInOrder = async ({ serve, handlers, listeners, connections, options }: RunningParts): Promise<void> => {
  const attempt = attempts(serve);
  for (const handler of handlers) handler.endStreams();
  const draining = [...listeners].map((listener) => listener.drain());
  await within(Promise.all([Promise.allSettled([...serve.calls]), ...draining]), answersMs);
  // The SDK writes an answer some microtasks after the call has settled: a connection that closes at once would lose it.
  await setImmediate();
  await Promise.all([...connections].map((connection) => attempt("a connection", connection.close())));
  await Promise.all([...handlers].map((handler) => attempt("requests under way", handler.close())));
  await Promise.all([...listeners].map((listener) => attempt("a listener", listener.close())));
  await within(Promise.allSettled([...serve.asking]), answersMs);
  serve.mailbox.close();
  await attempt("the engine", serve.engine.close());
  for (const [name, adapter] of Object.entries(options.adapters)) {
    await attempt(`adapters.${name}`, adapter.close?.());
  }
  await attempt("the store", options.store.close());
};

/** Stops one listener in the same way. Its own signal must have fired before. */
export const stopListener = async (handler: HttpHandler, listener: HttpListener): Promise<void> => {
  handler.endStreams();
  await within(listener.drain(), answersMs);
  await handler.close();
  await listener.close();
};

/** One part that fails to stop does not keep the others from it. */
const attempts =
  ({ log }: ServeContext) =>
  async (what: string, work: Promise<unknown> | undefined): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log.error({ err: error }, `${what} could not be stopped`);
    }
  };
