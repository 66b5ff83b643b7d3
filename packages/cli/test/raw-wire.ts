/** JSON-RPC over HTTP by hand: what goes over the wire is what a test says. */
export interface RawWire {
  readonly name: "2026-07-28" | "2025-11-25";
  /** Resolves with the answer, also when it is an error. */
  request(method: string, params: Record<string, unknown>): Promise<RawAnswer>;
}

/** A session, which a client may bring to any server. */
export interface RawSession extends RawWire {
  at(url: string): RawSession;
}

export interface RawAnswer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const capabilities = { elicitation: { form: {} } };
const clientInfo = { name: "test", version: "1" };

let requests = 0;

/** The tasks extension of 2026-07-28: no session, each request says who sends it. */
export const wire2026 = (url: string): RawWire => {
  const extensions = { "io.modelcontextprotocol/tasks": {} };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": { ...capabilities, extensions },
  };
  return {
    name: "2026-07-28",
    request: async (method, params) => {
      const name = params["name"] ?? params["taskId"];
      const headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      };
      return readAnswer(await post(url, { id: ++requests, method, params: { ...params, _meta } }, headers));
    },
  };
};

/** A session of 2025-11-25 whose client can be asked, but keeps no stream open on which that could happen. */
export const wire2025 = async (url: string, declared: object = capabilities): Promise<RawSession> => {
  const params = { protocolVersion: "2025-11-25", capabilities: declared, clientInfo };
  const opened = await post(url, { id: ++requests, method: "initialize", params });
  await opened.text();
  const headers = {
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
  };
  await (await post(url, { method: "notifications/initialized" }, headers)).text();
  const sessionAt = (address: string): RawSession => ({
    name: "2025-11-25",
    request: async (method, sent) => readAnswer(await post(address, { id: ++requests, method, params: sent }, headers)),
    at: sessionAt,
  });
  return sessionAt(url);
};

const post = (url: string, message: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });

/** The last message of a stream, or the only one. */
const readAnswer = async (response: Response): Promise<RawAnswer> => {
  const text = await response.text();
  const last = text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .at(-1);
  return JSON.parse(last?.slice("data: ".length) ?? text) as RawAnswer;
};
