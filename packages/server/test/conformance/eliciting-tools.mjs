import { inputRequired } from "@modelcontextprotocol/server";

const says = (text) => ({ content: [{ type: "text", text }] });
const object = (properties = {}, required = []) => ({ type: "object", properties, required });

/** Asks what `ask` makes of the arguments, and says what came back. */
const asks = (name, description, inputSchema, { ask, say }) => ({
  name,
  description,
  inputSchema,
  call: (input, { inputResponses }) =>
    inputResponses === undefined
      ? inputRequired({ inputRequests: { answer: ask(input) } })
      : says(say(inputResponses.answer)),
});

const elicits = (name, description, properties) =>
  asks(name, description, object(), {
    ask: () => inputRequired.elicit({ message: description, requestedSchema: object(properties) }),
    say: ({ action, content }) => `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`,
  });

const titled = (...titles) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

/** Ordinary tools that the suite calls on revisions in which questions are requests to the client. */
export const elicitingTools = [
  asks("test_sampling", "Asks the client's model.", object({ prompt: { type: "string" } }, ["prompt"]), {
    ask: ({ prompt }) =>
      inputRequired.createMessage({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      }),
    say: ({ content }) => `LLM response: ${content.text}`,
  }),
  asks("test_elicitation", "Asks the user.", object({ message: { type: "string" } }, ["message"]), {
    ask: ({ message }) =>
      inputRequired.elicit({
        message,
        requestedSchema: object(
          {
            username: { type: "string", description: "User's response" },
            email: { type: "string", description: "User's email address" },
          },
          ["username", "email"],
        ),
      }),
    say: ({ action, content }) => `User response: action: ${action}, content: ${JSON.stringify(content)}`,
  }),
  elicits("test_elicitation_sep1034_defaults", "Asks with a default for every type.", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
  elicits("test_elicitation_sep1330_enums", "Asks with every kind of choice.", {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
  }),
];
