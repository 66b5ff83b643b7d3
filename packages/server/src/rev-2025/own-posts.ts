import { toDeclaredCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Introduction } from "./session-id.ts";

/** What any POST has that the SDK looks at. */
const postHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** A POST that no client has sent. */
export const anyPost = (): Request => new Request("http://localhost", { method: "POST", headers: postHeaders });

/** A POST in place of a request of the same session, whose client gets the answer. */
export const toPost = ({ url, headers, signal }: Request): Request =>
  new Request(url, { method: "POST", headers: { ...Object.fromEntries(headers), ...postHeaders }, signal });

/** The handshake once more: so the SDK knows all that it would know had the session begun here. */
export const toInitialize = ({ revision, capabilities }: Introduction): object => ({
  jsonrpc: "2.0",
  id: "revived",
  method: "initialize",
  params: {
    protocolVersion: revision,
    capabilities: toDeclaredCapabilities(capabilities),
    clientInfo: { name: "revived", version: "0" },
  },
});
