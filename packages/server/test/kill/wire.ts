/** A bare 2026-07-28 caller that declares the tasks extension. Rejects when the connection breaks or no answer comes. */
export const callWire = async (
  url: string,
  method: string,
  params: Record<string, unknown>,
  timeoutMs = 20_000,
): Promise<{ result?: Record<string, unknown>; error?: { code: number; message: string } }> => {
  const name = params.name ?? params.taskId;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "kill-test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {
            elicitation: { form: {} },
            extensions: { "io.modelcontextprotocol/tasks": {} },
          },
        },
      },
    }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return (await response.json()) as { result?: Record<string, unknown>; error?: { code: number; message: string } };
};
