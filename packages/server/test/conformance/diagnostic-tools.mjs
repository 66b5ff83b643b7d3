import { inputRequired } from "@modelcontextprotocol/server";

const inputSchema = { type: "object", properties: {} };
const says = (text) => ({ content: [{ type: "text", text }] });

/**
 * The four tools through which `server-stateless` looks into a server.
 * @param {() => void} publishToolsChanged
 */
export const diagnosticTools = (publishToolsChanged) => [
  {
    name: "test_missing_capability",
    description: "Needs a client that samples.",
    inputSchema,
    call: () =>
      inputRequired({
        inputRequests: {
          sample: inputRequired.createMessage({
            messages: [{ role: "user", content: { type: "text", text: "Say something." } }],
            maxTokens: 16,
          }),
        },
      }),
  },
  {
    name: "test_streaming_elicitation",
    description: "Asks within its answer, never on its stream.",
    inputSchema,
    call: (_input, { inputResponses }) =>
      inputResponses?.name === undefined
        ? inputRequired({
            inputRequests: {
              name: inputRequired.elicit({
                message: "What is your name?",
                requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
              }),
            },
          })
        : says("Thank you."),
  },
  {
    name: "test_logging_tool",
    description: "Logs to a client that has not asked for it.",
    inputSchema,
    call: async (_input, { mcp }) => {
      await mcp?.mcpReq.log("info", "Nobody asked for this.");
      return says("Logged.");
    },
  },
  {
    name: "test_trigger_tool_change",
    description: "Tells subscribers that the tools have changed.",
    inputSchema,
    call: () => {
      publishToolsChanged();
      return says("Published.");
    },
  },
];
