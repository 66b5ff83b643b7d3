// A server with one task, and one of the SDK alone with one tool. `cpu` tells what this process has used so far (microseconds).
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { memoryStore } from "@taskbridge/core/memory";
import { createTaskServer } from "@taskbridge/server";
import { fakeAdapter } from "@taskbridge/testkit/adapter";

const bare = createMcpHandler(() => {
  const server = new McpServer({ name: "bare", version: "1" });
  server.registerTool("same", { description: "Says the same." }, () => ({ content: [{ type: "text", text: "same" }] }));
  return server;
});
const bareServer = createServer(toNodeHandler(bare)).listen(0, "127.0.0.1");
const say = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const server = await createTaskServer({
  name: "polled",
  store: memoryStore(),
  adapters: { scripted: fakeAdapter({ without: ["watch"] }).adapter },
  tools: [{ name: "work", description: "Works.", adapter: "scripted", target: { run: "work" } }],
  plainTools: [
    {
      name: "cpu",
      description: "Tells what was used.",
      inputSchema: { type: "object" },
      call: () => {
        const { user, system } = process.cpuUsage();
        return say({ used: user + system, bareUrl: `http://127.0.0.1:${bareServer.address().port}/mcp` });
      },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
