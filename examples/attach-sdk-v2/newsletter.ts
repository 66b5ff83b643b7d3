import { readFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const subscriber = z.object({ name: z.string(), email: z.string(), language: z.string() });

/** Where the newsletter keeps its things. */
export interface NewsletterFiles {
  /** Who gets it: a JSON list. */
  readonly subscribers: string;
  /** What has been sent: a JSON object a line. */
  readonly sent: string;
}

/** The newsletter as a model sees it: a tool, a prompt and a resource. */
export const createNewsletter = (files: NewsletterFiles): McpServer => {
  const newsletter = new McpServer({ name: "newsletter", version: "2.1.0" });
  const readSubscribers = async () => z.array(subscriber).parse(JSON.parse(await readFile(files.subscribers, "utf8")));

  newsletter.registerTool(
    "count_subscribers",
    {
      description: "How many people get the newsletter, by language.",
      inputSchema: z.object({ language: z.string().optional() }),
      outputSchema: z.object({ count: z.int() }),
    },
    async ({ language }) => {
      const found = (await readSubscribers()).filter((one) => language === undefined || one.language === language);
      const counted = { count: found.length };
      return { content: [{ type: "text", text: JSON.stringify(counted) }], structuredContent: counted };
    },
  );
  newsletter.registerPrompt(
    "draft_issue",
    { description: "Asks for a new issue.", argsSchema: z.object({ topic: z.string() }) },
    ({ topic }) => ({
      messages: [
        { role: "user", content: { type: "text", text: `Write an issue of our newsreplica message about ${topic}.` } },
      ],
    }),
  );
  newsletter.registerResource("sent", "newsletter://sent", { mimeType: "application/jsonl" }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: "application/jsonl", text: await readFile(files.sent, "utf8") }],
  }));
  return newsletter;
};
