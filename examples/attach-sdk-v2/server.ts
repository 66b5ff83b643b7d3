// Serves the newsletter until SIGINT or SIGTERM.
//   PORT=3000 NEWSLETTER_DATA=.cache node dist/server.js
import { once } from "node:events";
import { appendFile, mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  localhostHostValidation,
  localhostOriginValidation,
  type NodeIncomingMessageLike,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { attachTasks, withTaskStreams } from "@taskbridge/server";
import { createNewsletter } from "./newsletter.ts";
import { openPipelines } from "./pipelines.ts";

const { PORT = "3000", NEWSLETTER_DATA: data = ".cache" } = process.env;
await mkdir(data, { recursive: true });
const files = { subscribers: "subscribers.json", sent: join(data, "sent.jsonl") };
await appendFile(files.sent, "");

const pipelines = await openPipelines(files, data);
const owners = "local";
const handler = createMcpHandler(() => {
  const newsletter = createNewsletter(files);
  attachTasks(newsletter, pipelines, { owners });
  return newsletter;
});
const answer = toNodeHandler(withTaskStreams(handler, pipelines, { owners }));

const isLocalHost = localhostHostValidation();
const isLocalOrigin = localhostOriginValidation();
const http = createServer((request, response) => {
  if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
  void answer(request as NodeIncomingMessageLike, response);
});
http.listen(Number(PORT), "127.0.0.1");
await once(http, "listening");
console.log(`The newsletter is at http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

async function stop(): Promise<void> {
  http.close();
  await pipelines.close();
  await handler.close();
  http.closeAllConnections();
}
