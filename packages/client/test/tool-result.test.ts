import { expect, test } from "@jest/globals";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { CallToolResult as FirstCallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { type ToolResult, taskClient } from "../src/index.ts";
import { modern, scriptedClient } from "./scripted-client.ts";

test("a result goes where either SDK takes a CallToolResult, and keeps what is newer than these types", async () => {
  const answer: ToolResult = {
    content: [
      { type: "text", text: "done", annotations: { audience: ["user"], priority: 1 } },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "resource_link", uri: "r://1", name: "one" },
      { type: "resource", resource: { uri: "r://2", text: "two" } },
    ],
    structuredContent: { done: true },
    isError: false,
    soon: 1,
  };
  const client = scriptedClient({ ...modern, answer: () => ({ resultType: "complete", ...answer }) });
  const result = await taskClient(client).beginCall("job").result();
  const first: FirstCallToolResult = result;
  const second: CallToolResult = result;
  expect(first).toEqual(answer);
  expect(second).toEqual(answer);
});
