import { acceptedContent, CLIENT_CAPABILITIES_META_KEY, inputRequired } from "@modelcontextprotocol/server";

const inputSchema = { type: "object", properties: {} };
const says = (text) => ({ content: [{ type: "text", text }] });
const asks = (inputRequests, requestState) =>
  inputRequired({ inputRequests, ...(requestState === undefined ? {} : { requestState }) });

const elicit = (message, name, type = "string") =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [name]: { type } }, required: [name] },
  });
const sample = (text, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens });

const askName = () => elicit("What is your name?", "name");
const nameIn = ({ inputResponses }) => acceptedContent(inputResponses, "user_name")?.name;
const tool = (name, description, call) => ({
  name: `test_input_required_result_${name}`,
  description,
  inputSchema,
  call: (_input, context) => call(context),
});

const confirmWithState = async (context) => {
  const { inputResponses, readState } = context;
  if (readState() !== undefined && acceptedContent(inputResponses, "confirm")) return says("state-ok");
  return asks({ confirm: elicit("Please confirm", "ok", "boolean") }, await context.mintState({ step: "confirm" }));
};

const steps = [
  { step1: () => elicit("Step 1: what is your name?", "name") },
  { step2: () => elicit("Step 2: what is your favourite colour?", "color") },
];
const askInSteps = async ({ readState, mintState }) => {
  const done = readState()?.done ?? -1;
  const next = steps[done + 1];
  if (next === undefined) return says("Both steps are done.");
  const [[key, ask]] = Object.entries(next);
  return asks({ [key]: ask() }, await mintState({ done: done + 1 }));
};

const askWhatIsDeclared = ({ mcp }) => {
  const declared = mcp?.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const requests = {
    ...(declared.elicitation ? { user_name: askName() } : {}),
    ...(declared.sampling ? { greeting: sample("Greet me.", 50) } : {}),
  };
  return Object.keys(requests).length === 0 ? says("There is nobody to ask.") : asks(requests);
};

/** Ordinary tools that ask before they answer. */
export const askingTools = [
  tool("elicitation", "Asks for a name.", (context) => {
    const name = nameIn(context);
    return typeof name === "string" ? says(`Hello, ${name}!`) : asks({ user_name: askName() });
  }),
  tool("sampling", "Asks the client's model.", ({ inputResponses }) =>
    inputResponses?.capital_question
      ? says("Answered.")
      : asks({ capital_question: sample("What is the capital of France?", 100) }),
  ),
  tool("list_roots", "Asks for the client's roots.", ({ inputResponses }) =>
    inputResponses?.client_roots ? says("Answered.") : asks({ client_roots: inputRequired.listRoots() }),
  ),
  tool("multiple_inputs", "Asks three things at once.", async (context) =>
    nameIn(context) === undefined
      ? asks(
          {
            user_name: askName(),
            greeting: sample("Write a greeting.", 50),
            client_roots: inputRequired.listRoots(),
          },
          await context.mintState({ step: "all" }),
        )
      : says("Answered."),
  ),
  tool("request_state", "Asks, with a state to bring back.", confirmWithState),
  tool("tampered_state", "Asks, with a state that must not be changed.", confirmWithState),
  tool("multi_round", "Asks in two rounds.", askInSteps),
  tool("capabilities", "Asks only what the client can answer.", askWhatIsDeclared),
];
