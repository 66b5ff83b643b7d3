import { ProtocolError } from "@modelcontextprotocol/server";
import { invalidParamsCode, parseResultUri } from "@taskbridge/protocol";
import { listResources, listResourceTemplates, readResult } from "../mcp/result-resource.ts";
import { trackCall } from "../mcp/track-call.ts";
import { type Attachment, readAttached, requireRunning } from "./attachment.ts";
import type { SdkHandler } from "./sdk-server.ts";

/** Results of tasks beside the host's resources: what is too large for an answer is read there. */
export const wrapResources = (attachment: Attachment): ReadonlyMap<string, SdkHandler> => {
  const { serve, parts } = attachment;
  const handlers = parts.server._requestHandlers;
  const theirTemplates = handlers.get("resources/templates/list");
  const theirRead = handlers.get("resources/read");
  const templates: SdkHandler = async (request, extra) => {
    const listed = (await theirTemplates?.(request, extra)) ?? { resourceTemplates: [] };
    if (listed.nextCursor !== undefined) return listed;
    const ours = listResourceTemplates().resourceTemplates;
    return { ...listed, resourceTemplates: [...(listed.resourceTemplates as readonly unknown[]), ...ours] };
  };
  const read: SdkHandler = async (request, extra) => {
    const uri = request.params?.uri;
    if (typeof uri === "string" && isOurs(uri)) {
      requireRunning(serve);
      return trackCall(serve, readResult(serve, readAttached(attachment, extra), uri));
    }
    if (theirRead !== undefined) return theirRead(request, extra);
    throw new ProtocolError(invalidParamsCode, "Resource not found", { uri });
  };
  return new Map<string, SdkHandler>([
    ...(handlers.has("resources/list") ? [] : [["resources/list", async () => listResources()] as const]),
    ["resources/templates/list", templates],
    ["resources/read", read],
  ]);
};

/** A range that makes no sense is still an address of ours, and is refused as such. */
const isOurs = (uri: string): boolean => {
  try {
    return parseResultUri(uri) !== undefined;
  } catch {
    return true;
  }
};
