// A server over a scripted backend without push. `looks` tells how often the backend was asked, `end` ends the execution.
import { memoryStore } from "@taskbridge/core/memory";
import { createTaskServer } from "@taskbridge/server";
import { fakeAdapter } from "@taskbridge/testkit/adapter";

const { adapter, backend } = fakeAdapter({ without: ["watch"] });
const say = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const server = await createTaskServer({
  name: "polled",
  store: memoryStore(),
  adapters: { scripted: adapter },
  tools: [
    {
      name: "work",
      description: "Works.",
      adapter: "scripted",
      target: { run: "work" },
      task: { pollIntervalMs: 1000 },
    },
  ],
  plainTools: [
    {
      name: "looks",
      description: "Counts.",
      inputSchema: { type: "object" },
      call: () => say(backend.callsOf("inspect").map(({ at }) => at)),
    },
    {
      name: "end",
      description: "Ends it.",
      inputSchema: { type: "object" },
      call: () => {
        backend.executions[0].succeed({ done: true });
        return say(Date.now());
      },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
