import type { RequestId } from "../session/client-link.ts";

/** A message as a client has sent it. */
export interface WireMessage {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The messages of a body, which may be a batch. What is no message is the transport's to refuse. */
export const toMessages = (body: unknown): readonly WireMessage[] =>
  [body].flat().filter((message): message is WireMessage => typeof message === "object" && message !== null);

/** The request that a message takes back. */
export const cancelledId = ({ method, params }: WireMessage): readonly RequestId[] =>
  method === "notifications/cancelled" && params?.requestId !== undefined ? [params.requestId as RequestId] : [];

/** The ID of a request. */
export const askedId = ({ id, method }: WireMessage): readonly RequestId[] =>
  id === undefined || method === undefined ? [] : [id];
