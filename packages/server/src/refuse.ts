import { invalidRequestCode } from "@taskbridge/protocol";

export interface RefusalOptions {
  /** Default: −32600, an invalid request. */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A refusal of a request as a whole. JSON-RPC has not begun, so that there is no ID to answer to:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
export const refuse = (
  status: number,
  message: string,
  { code = invalidRequestCode, headers = {} }: RefusalOptions = {},
): Response => Response.json({ jsonrpc: "2.0", error: { code, message } }, { status, headers });

export const refuseTooLarge = (maxBodyBytes: number): Response =>
  refuse(413, `Payload Too Large: more than ${maxBodyBytes} bytes`, { code: -32_000 });
