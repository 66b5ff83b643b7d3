import { join } from "node:path";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer, type TaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";
import type { NewsletterFiles } from "./newsletter.ts";

/** The newsletter's scripts as tasks. One task server for all requests, each of which has an MCP server of its own. */
export const openPipelines = async (files: NewsletterFiles, data: string): Promise<TaskServer> =>
  createTaskServer({
    name: "newsletter",
    store: await sqliteStore({ path: join(data, "tasks.db") }),
    adapters: { local: processAdapter({ directory: join(data, "jobs") }) },
    tools: [
      {
        name: "send_issue",
        description: "Sends an issue to every subscriber. Checks the addresses first, then asks. Takes a minute.",
        adapter: "local",
        target: { command: ["node", "jobs/send-issue.mjs", files.subscribers, files.sent, "{{input.subject}}"] },
        input: {
          type: "object",
          properties: { subject: { type: "string", minLength: 1 } },
          required: ["subject"],
          additionalProperties: false,
        },
        output: {
          type: "object",
          properties: { sent: { type: "integer" } },
          required: ["sent"],
        },
        task: { pollIntervalMs: 500 },
      },
      {
        name: "find_bounces",
        description: "Reads the mailbox of bounced mails. Takes minutes.",
        adapter: "local",
        target: { command: ["node", "jobs/find-bounces.mjs"] },
        task: { pollIntervalMs: 500 },
      },
    ],
  });
