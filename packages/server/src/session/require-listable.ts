import { ProtocolError } from "@modelcontextprotocol/server";
import { methodNotFoundCode } from "@taskbridge/protocol";
import type { Request2025 } from "./request-2025.ts";

/** Nobody lists tasks where nobody knows whose they are, and `tasks.list` is not declared there. */
export const requireListable = ({ owner }: Pick<Request2025, "owner">): void => {
  if (owner !== null) return;
  throw new ProtocolError(
    methodNotFoundCode,
    "Method not found: tasks can be listed only where callers are authenticated, and this server does not authenticate them",
  );
};
