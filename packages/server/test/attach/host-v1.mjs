// An MCP server that somebody has had for long, with everything that SDK 1 offers.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

export const createHostV1 = (options = {}) => {
  const host = new McpServer({ name: "host", version: "1.0.0" }, { capabilities: { logging: {} }, ...options });
  host.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => text(String(a + b)));
  host.registerTool(
    "count",
    { inputSchema: { words: z.array(z.string()) }, outputSchema: { count: z.number() } },
    ({ words }) => ({ ...text("counted"), structuredContent: { count: words.length } }),
  );
  host.registerTool("wrong-output", { outputSchema: { count: z.number() } }, () => ({
    ...text("counted"),
    structuredContent: { count: "many" },
  }));
  host.registerTool("fails", {}, () => {
    throw new Error("the disk is full");
  });
  host.registerTool("steps", {}, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2]) {
      const params = { progressToken: _meta?.progressToken ?? 0, progress, total: 2 };
      await sendNotification({ method: "notifications/progress", params });
      await sendNotification({ method: "notifications/message", params: { level: "info", data: `step ${progress}` } });
    }
    return text("stepped");
  });
  host.registerTool("asks", {}, async ({ sendRequest }) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const params = { mode: "form", message: "Who?", requestedSchema };
    const answer = await sendRequest({ method: "elicitation/create", params }, z.looseObject({}));
    return text(JSON.stringify(answer));
  });
  host.registerPrompt(
    "greet",
    {
      argsSchema: {
        name: completable(z.string(), (start) => ["Ada", "Alan"].filter((name) => name.startsWith(start))),
      },
    },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${name}` } }] }),
  );
  host.registerResource("readme", "file:///readme", { mimeType: "text/plain" }, () => ({
    contents: [{ uri: "file:///readme", text: "Read me." }],
  }));
  host.registerResource(
    "note",
    new ResourceTemplate("note://{id}", {
      list: () => ({ resources: [{ uri: "note://1", name: "one" }] }),
      complete: { id: (start) => ["1", "12"].filter((id) => id.startsWith(start)) },
    }),
    {},
    ({ href }, { id }) => ({ contents: [{ uri: href, text: `Note ${id}` }] }),
  );
  return host;
};
