// A server whose job makes a large result. `delay` tells how long its event loop was held up at worst since the last asking,
// and how long that of an idle process was meanwhile.
import { fork } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, RESULT_BYTES } = process.env;
const makeText = `const line = "größe 0123456789 abcdefghij\\n"; process.stdout.write(line.repeat(Math.ceil(${Number(RESULT_BYTES)} / Buffer.byteLength(line))));`;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const idle = fork(new URL("./idle-process.mjs", import.meta.url));
const server = await createTaskServer({
  name: "large",
  store: await sqliteStore({ path: `${FOLDER}/tasks.db` }),
  adapters: { local: processAdapter({ directory: `${FOLDER}/jobs` }) },
  tools: [
    {
      name: "large",
      description: "Makes a large result.",
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
      call: async () => {
        const serverMs = delay.max / 1e6;
        idle.send("tell");
        const [idleMs] = await once(idle, "message");
        delay.reset();
        return { content: [{ type: "text", text: JSON.stringify({ serverMs, idleMs }) }] };
      },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
