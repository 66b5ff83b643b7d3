import { ProtocolError } from "@modelcontextprotocol/server";
import { unlessAborted } from "@taskbridge/core";
import { methodNotFoundCode } from "@taskbridge/protocol";
import { serve2025, waitsForUpdates } from "../rev-2025/serve-2025.ts";
import { serveTask2026, taskMethods2026 } from "../rev-2026-07-28/serve-2026.ts";
import { servesSep1686, servesTasks } from "../session/choose-task-wire.ts";
import { type Attachment, readAttached, requireRunning, stoppedError, toRequest2025 } from "./attachment.ts";
import type { SdkHandler, SdkRequest } from "./sdk-server.ts";

const methods = ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list", "tasks/delete"] as const;

/** Marks our cursors, in a server that lists tasks of its own as well. */
const cursorMark = "taskbridge:";

/** The methods of tasks. A host that keeps tasks of its own goes on answering for them. */
export const wrapTasks = (attachment: Attachment): ReadonlyMap<string, SdkHandler> => {
  const { server } = attachment.parts;
  return new Map(
    methods.map((method) => {
      const theirs = server._requestHandlers.get(method);
      const ours = serveOurs(attachment, method);
      server._customSchemaRequestMethods?.add(method);
      if (theirs === undefined) return [method, ours];
      const both = method === "tasks/list" ? listBoth(attachment, theirs, ours) : oursFirst(theirs, ours);
      const afterStop = theirsAfterStop(theirs);
      return [method, (request, extra) => (attachment.serve.stopping.aborted ? afterStop : both)(request, extra)];
    }),
  );
};

const serveOurs =
  (attachment: Attachment, method: (typeof methods)[number]): SdkHandler =>
  async (request, extra) => {
    const { serve, session } = attachment;
    requireRunning(serve);
    const attached = readAttached(attachment, extra);
    if (attached.era === "legacy" || attached.context === undefined) {
      const legacy = toRequest2025(attachment, request, attached);
      try {
        const answer = serve2025(serve, legacy);
        // A stop does not close the connections of another server: without this, the client would wait for ever.
        return await (waitsForUpdates(serve, legacy) ? unlessAborted(serve.stopping, answer, stoppedError) : answer);
      } finally {
        session.settle(attached.id);
      }
    }
    const modern = taskMethods2026.find((name) => name === method);
    if (modern === undefined || !serve.wires.has("2026-07-28")) throw methodNotFound();
    return serveTask2026(serve, attached, modern, request.params ?? {}, attached.context);
  };

/** An ID that is unknown to us may be one of the host's. */
const oursFirst =
  (theirs: SdkHandler, ours: SdkHandler): SdkHandler =>
  async (request, extra) => {
    try {
      return await ours(request, extra);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return theirs(request, extra);
    }
  };

/** A task server that was stopped takes nothing from the host, but an ID unknown there may be of a task that goes on. */
const theirsAfterStop =
  (theirs: SdkHandler): SdkHandler =>
  async (request, extra) => {
    try {
      return await theirs(request, extra);
    } catch (error) {
      if (error instanceof Error && /not found/i.test(error.message)) throw stoppedError();
      throw error;
    }
  };

/** The host's pages first, then ours, for those who have any that could be listed. */
const listBoth =
  (attachment: Attachment, theirs: SdkHandler, ours: SdkHandler): SdkHandler =>
  async (request, extra) => {
    const cursor = request.params?.cursor;
    if (typeof cursor === "string" && cursor.startsWith(cursorMark)) {
      const sent = cursor.slice(cursorMark.length);
      const page = await ours(withCursor(request, sent === "" ? undefined : sent), extra);
      return typeof page.nextCursor === "string" ? { ...page, nextCursor: cursorMark + page.nextCursor } : page;
    }
    const page = await theirs(request, extra);
    if (page.nextCursor !== undefined || !canList(attachment, request, extra)) return page;
    return { ...page, nextCursor: cursorMark };
  };

const canList = (attachment: Attachment, request: SdkRequest, extra: unknown): boolean => {
  const attached = readAttached(attachment, extra);
  if (attached.era === "modern" || attached.owner === null) return false;
  const { session } = toRequest2025(attachment, request, attached);
  return servesSep1686(attachment.serve) || servesTasks(attachment.serve, session);
};

const withCursor = (request: SdkRequest, cursor: string | undefined): SdkRequest => {
  const { cursor: _cursor, ...params } = request.params ?? {};
  return { ...request, params: cursor === undefined ? params : { ...params, cursor } };
};

const isUnknown = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === methodNotFoundCode || /Task not found$/.test(error.message));

const methodNotFound = (): ProtocolError => new ProtocolError(methodNotFoundCode, "Method not found");
