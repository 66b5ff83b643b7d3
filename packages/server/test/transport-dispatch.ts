import type { Transport } from "@modelcontextprotocol/server";

interface RawAnswer {
  readonly kind: "result" | "error";
  readonly result?: unknown;
  readonly error?: unknown;
}

type Dispatch = (
  request: object,
  options?: { signal?: AbortSignal; context?: { headers?: unknown } },
) => Promise<RawAnswer>;

interface Wire {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * Requests past the SDK's client, which refuses a call that is answered with a task, over the client's own transport: one
 * endpoint is thus enough for a client of the extension.
 */
export const transportDispatch = (transport: Transport): Dispatch => {
  const pending = new Map<string | number, (answer: RawAnswer) => void>();
  const next = transport.onmessage;
  let count = 0;
  transport.onmessage = (message, extra) => {
    const { id, method, result, error } = message as Wire;
    const take = id === undefined || method !== undefined ? undefined : pending.get(id);
    if (id === undefined || take === undefined) return next?.(message, extra);
    pending.delete(id);
    take(error === undefined ? { kind: "result", result } : { kind: "error", error });
  };
  return (request, options = {}) =>
    new Promise((resolve, reject) => {
      const id = `raw-${++count}`;
      pending.set(id, resolve);
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true });
      const sent = transport.send(
        { jsonrpc: "2.0", id, ...request } as never,
        { headers: options.context?.headers } as never,
      );
      sent.catch((error: unknown) => {
        pending.delete(id);
        reject(error);
      });
    });
};
