// Serves a release pipeline until SIGINT or SIGTERM.
//   PORT=3000 RELEASE_DATA=.cache node dist/server.js
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { PORT = "3000", RELEASE_DATA = ".cache" } = process.env;
const data = resolve(RELEASE_DATA);
await mkdir(data, { recursive: true });

const server = await createTaskServer({
  name: "releases",
  store: await sqliteStore({ path: join(data, "tasks.db") }),
  adapters: { local: processAdapter({ directory: join(data, "jobs") }) },
  tools: [
    {
      name: "publish",
      description: "Publishes a release. A person is asked before.",
      adapter: "local",
      target: { command: ["node", "jobs/publish.mjs", join(data, "published.log"), "{{input.version}}"] },
      input: {
        type: "object",
        properties: { version: { type: "string", minLength: 1 } },
        required: ["version"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false, destructiveHint: true },
      // Nobody approves by not answering.
      task: { pollIntervalMs: 200, questionTimeoutMs: 3_600_000 },
    },
  ],
});
const { url } = await server.listen({ port: Number(PORT) });
console.log(`Releases are at ${url}`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
