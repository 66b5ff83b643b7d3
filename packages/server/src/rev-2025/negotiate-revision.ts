import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";

/** The revision that the SDK answers an `initialize` with: the newest that it knows where it does not know the asked one. */
export const negotiateRevision = (asked: unknown): string =>
  typeof asked === "string" && SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
