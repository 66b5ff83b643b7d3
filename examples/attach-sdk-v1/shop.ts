import { readFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";

const product = z.object({ sku: z.string(), name: z.string(), cents: z.int(), stock: z.int() });

/** The shop as a model sees it: a tool, a prompt and a resource over one file of products. */
export const createShop = (file: string): McpServer => {
  const shop = new McpServer({ name: "shop", version: "1.4.0" });
  const readProducts = async () => z.array(product).parse(JSON.parse(await readFile(file, "utf8")));

  shop.registerTool(
    "find_product",
    {
      description: "Finds products by a part of their name, with price and stock.",
      inputSchema: { text: z.string() },
      outputSchema: { products: z.array(product) },
    },
    async ({ text }) => {
      const products = (await readProducts()).filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
      return { content: [{ type: "text", text: JSON.stringify(products) }], structuredContent: { products } };
    },
  );
  shop.registerPrompt(
    "describe_product",
    { description: "Asks for a text for the catalogue.", argsSchema: { name: z.string() } },
    ({ name }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Describe our ${name} in two sentences.` } }],
    }),
  );
  shop.registerResource("products", "shop://products", { mimeType: "application/json" }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify(await readProducts()) }],
  }));
  return shop;
};
