import { invalidRequestCode } from "@taskbridge/protocol";

export interface RefusalOptions {
  /** Default: −32600, an invalid request. */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** After how long the same request may be taken (milliseconds): in `Retry-After`, and in `data`, since SDK clients hand on no header. */
  readonly retryAfterMs?: number;
}

/**
 * A refusal of a request as a whole. JSON-RPC has not begun, so that there is no ID to answer to:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
export const refuse = (
  status: number,
  message: string,
  { code = invalidRequestCode, headers = {}, retryAfterMs }: RefusalOptions = {},
): Response => {
  const error = { code, message, ...(retryAfterMs === undefined ? {} : { data: { retryAfterMs } }) };
  const wait = retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) };
  return Response.json({ jsonrpc: "2.0", error }, { status, headers: { ...headers, ...wait } });
};

export const refuseTooLarge = (maxBodyBytes: number): Response =>
  refuse(413, `Payload Too Large: more than ${maxBodyBytes} bytes`, { code: -32_000 });
