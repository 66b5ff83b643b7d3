import type { SdkClient } from "../src/index.ts";

type Members = Record<string, unknown>;

export interface ScriptedClient extends SdkClient {
  /** Everything that was sent, in turn. */
  readonly sent: readonly Members[];
  /** Something from the server. */
  receive(message: Members): void;
}

export interface Script {
  /** Default: a legacy connection. */
  readonly version?: string;
  readonly capabilities?: object;
  /** Gives the result of a request, or throws what the transport rejects with; `{ error }` is an error answer. */
  answer(method: string, params: Members): unknown;
}

/** A connected client whose server says whatever a test wants, answers of no protocol included. */
export const scriptedClient = ({ version, capabilities = {}, answer }: Script): ScriptedClient => {
  const sent: Members[] = [];
  const transport: { onmessage?: (message: Members) => void; send(message: Members): Promise<void> } = {
    send: async (message) => {
      sent.push(message);
      if (message["method"] === undefined) return;
      const outcome = (await answer(String(message["method"]), (message["params"] ?? {}) as Members)) as
        | object
        | null
        | undefined;
      const isError = Object.keys(outcome ?? {}).join() === "error";
      const body = isError ? (outcome as Members) : { result: outcome };
      if (outcome !== undefined && message["id"] !== undefined)
        transport.onmessage?.({ jsonrpc: "2.0", id: message["id"], ...body });
    },
  };
  return {
    transport,
    sent,
    getServerCapabilities: () => capabilities,
    getNegotiatedProtocolVersion: () => version,
    close: async () => {},
    receive: (message) => transport.onmessage?.(message),
  };
};

export const modern = { version: "2026-07-28", capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
export const core = { version: "2025-11-25", capabilities: { tasks: { list: {}, requests: { tools: { call: {} } } } } };
