// A server of somebody else's on stdio, with pipelines attached when ATTACH is set.
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { memoryStore } from "@taskbridge/core/memory";
import { attachTasks, createTaskServer } from "@taskbridge/server";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import { createHostV1 } from "./host-v1.mjs";
import { ourFake, ourLimits, ourTools } from "./our-pipelines.mjs";

const host = createHostV1();
if (process.env.ATTACH === "1") {
  const adapters = { fake: fakeAdapter(ourFake).adapter };
  const options = { name: "tasks", store: memoryStore(), adapters, tools: ourTools, limits: ourLimits };
  attachTasks(host, await createTaskServer(options));
}
await host.connect(new StdioServerTransport());
