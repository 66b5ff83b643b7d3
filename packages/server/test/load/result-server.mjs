// A server whose job makes a large result. `delay` tells how long its event loop was held up at worst since the last asking.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER } = process.env;
const makeText =
  "const line = 'größe 0123456789 abcdefghij\\n'; process.stdout.write(line.repeat(Math.ceil(31e6 / Buffer.byteLength(line))));";
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const server = await createTaskServer({
  name: "large",
  store: await sqliteStore({ path: `${FOLDER}/tasks.db` }),
  adapters: { local: processAdapter({ directory: `${FOLDER}/jobs` }) },
  tools: [
    {
      name: "large",
      description: "Makes 31 MB.",
      adapter: "local",
      target: { command: [process.execPath, "-e", makeText] },
      task: { pollIntervalMs: 250 },
    },
    {
      name: "short",
      description: "Ends soon.",
      adapter: "local",
      target: { command: [process.execPath, "-e", "setTimeout(() => console.log(Date.now()), 300)"] },
      task: { pollIntervalMs: 5000 },
    },
  ],
  plainTools: [
    {
      name: "delay",
      description: "Tells the longest pause of the event loop.",
      inputSchema: { type: "object" },
      call: () => {
        const longestMs = delay.max / 1e6;
        delay.reset();
        return { content: [{ type: "text", text: String(longestMs) }] };
      },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
