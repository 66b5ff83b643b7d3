import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { BridgeError, isBridgeError } from "@taskbridge/core";
import { invalidParamsCode, parseResultUri, rangeToFetch, resultUriTemplate, toTextRange } from "@taskbridge/protocol";
import { toAccess } from "../caller.ts";
import type { Connection, ServeContext } from "./serve-context.ts";

/** Results are reached by template only: what a caller may read is not listed to it. */
export const listResources = (): { resources: [] } => ({ resources: [] });

export const listResourceTemplates = (): {
  resourceTemplates: { uriTemplate: string; name: string; description: string }[];
} => ({
  resourceTemplates: [
    {
      uriTemplate: resultUriTemplate,
      name: "task result",
      description:
        "The result of a task that has succeeded. offset and length are UTF-8 bytes; each answer names the next address in _meta.",
    },
  ],
});

/** Answers `resources/read` for the result of a task, or a range of it. */
export const readResult = async (context: ServeContext, connection: Connection, uri: string): Promise<Result> => {
  const address = parseResultUri(uri);
  if (address === undefined) throw resourceNotFound(connection, uri);
  try {
    const range = rangeToFetch(address);
    const part = await context.engine.readOutput(address.taskId, toAccess(connection.owner), range);
    if (address.offset > part.totalBytes) throw beyondTheEnd(address.offset, part.totalBytes);
    const { text, offset, bytes, nextUri } = toTextRange(address, part.bytes, part.totalBytes);
    const meta = {
      "taskbridge/offset": offset,
      "taskbridge/bytes": bytes,
      "taskbridge/totalBytes": part.totalBytes,
      ...(nextUri === undefined ? {} : { "taskbridge/nextUri": nextUri }),
    };
    return { contents: [{ uri, mimeType: part.mediaType, text, _meta: meta }] };
  } catch (error) {
    if (isBridgeError(error) && error.code === "not_found") throw resourceNotFound(connection, uri);
    throw error;
  }
};

const beyondTheEnd = (offset: number, totalBytes: number): BridgeError =>
  new BridgeError("invalid_input", `offset: the result has ${totalBytes} bytes, got ${offset}`, {
    data: { path: "offset" },
  });

/** Earlier revisions have a code of their own for this. */
const resourceNotFound = ({ era }: Connection, uri: string): ProtocolError =>
  new ProtocolError(era === "modern" ? invalidParamsCode : -32_002, "Resource not found", { uri });
