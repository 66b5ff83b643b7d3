import {
  completable,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import * as z from "zod";

const text = (value: string): { content: { type: "text"; text: string }[] } => ({
  content: [{ type: "text", text: value }],
});

/** An SDK 2 server with everything that it can have; it answers like that of `createHostV1`. */
export const createHostV2 = (options: ServerOptions = {}): McpServer => {
  const host = new McpServer({ name: "host", version: "1.0.0" }, { capabilities: { logging: {} }, ...options });
  host.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) =>
    text(String(a + b)),
  );
  host.registerTool(
    "count",
    { inputSchema: z.object({ words: z.array(z.string()) }), outputSchema: z.object({ count: z.number() }) },
    ({ words }) => ({ ...text("counted"), structuredContent: { count: words.length } }),
  );
  host.registerTool("wrong-output", { outputSchema: z.object({ count: z.number() }) }, () => ({
    ...text("counted"),
    structuredContent: { count: "many" },
  }));
  host.registerTool("fails", {}, () => {
    throw new Error("the disk is full");
  });
  host.registerTool("steps", {}, async ({ mcpReq }) => {
    for (const progress of [1, 2]) {
      const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress, total: 2 };
      await mcpReq.notify({ method: "notifications/progress", params });
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data: `step ${progress}` } });
    }
    return text("stepped");
  });
  host.registerTool("asks", {}, ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined)
      return text(JSON.stringify([mcpReq.inputResponses, mcpReq.requestState()]));
    const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
    const who = inputRequired.elicit({ message: "Who?", requestedSchema });
    return inputRequired({ inputRequests: { who }, requestState: "host-state" });
  });
  const region = z.string().meta({ "x-mcp-header": "Region" });
  host.registerTool("regional", { inputSchema: z.object({ region }) }, (args) => text(args.region));
  host.registerPrompt(
    "greet",
    {
      argsSchema: z.object({
        name: completable(z.string(), (start) => ["Ada", "Alan"].filter((name) => name.startsWith(start ?? ""))),
      }),
    },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${name}` } }] }),
  );
  host.registerResource("readme", "file:///readme", { mimeType: "text/plain" }, () => ({
    contents: [{ uri: "file:///readme", text: "Read me." }],
  }));
  const template = new ResourceTemplate("note://{id}", {
    list: () => ({ resources: [{ uri: "note://1", name: "one" }] }),
    complete: { id: (start) => ["1", "12"].filter((id) => id.startsWith(start)) },
  });
  host.registerResource("note", template, {}, ({ href }, { id }) => ({
    contents: [{ uri: href, text: `Note ${id}` }],
  }));
  return host;
};
