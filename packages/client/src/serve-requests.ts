import { isTaskClientError } from "./client-error.ts";
import type { Members } from "./is-object.ts";
import { internalError } from "./rpc-codes.ts";
import type { Message } from "./sdk-client.ts";

/** Why the signal of a request fires that the server does not want answered any more; otherwise its answer was lost. */
export const withdrawn = "taken back by the server";

export interface RequestHandling {
  /** Takes a request of the server by giving its result to come, or leaves it to the SDK's client with undefined. The
   * signal fires with `withdrawn`, or when the answer cannot be delivered. */
  onRequest(method: string, params: Members, signal: AbortSignal): Promise<Members | undefined> | undefined;
  /** What is left to the SDK's client. */
  passOn(message: Message, extra: unknown): void;
  send(message: Message): Promise<void>;
  /** An answer could not be delivered. */
  onTrouble(): void;
}

/** The requests of a server that are being answered. */
export interface RequestServer {
  serve(message: Message, extra: unknown): void;
  /** The server does not want this one answered any more. */
  withdraw(requestId: unknown): void;
  /** No answer can be delivered any more. */
  close(reason: unknown): void;
}

export const requestServer = ({ onRequest, passOn, send, onTrouble }: RequestHandling): RequestServer => {
  const serving = new Map<unknown, AbortController>();
  return {
    serve: (message, extra) => {
      const { id, method = "", params = {} } = message;
      const taken = new AbortController();
      const answer = onRequest(method, params, taken.signal);
      if (answer === undefined) return passOn(message, extra);
      serving.set(id, taken);
      const reply = (body: Pick<Message, "result" | "error">): Promise<void> =>
        send({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), ...body });
      void answer
        .then(
          (result) => {
            if (result === undefined) return passOn(message, extra);
            // A request that the server has taken back is not answered any more.
            return taken.signal.aborted ? undefined : reply({ result });
          },
          (error: unknown) => (taken.signal.aborted ? undefined : reply({ error: toFault(error) })),
        )
        .catch((error: unknown) => {
          taken.abort(error);
          onTrouble();
        })
        .finally(() => serving.delete(id));
    },
    withdraw: (requestId) => serving.get(requestId)?.abort(withdrawn),
    close: (reason) => {
      for (const taken of serving.values()) taken.abort(reason);
    },
  };
};

const toFault = (error: unknown): { readonly code: number; readonly message: string } => ({
  code: internalError,
  // What a host's own code threw is not the server's business.
  message: isTaskClientError(error) ? error.message : "the question could not be put to anybody",
});
