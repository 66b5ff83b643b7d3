const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: png, mimeType: "image/png" };
const answers = (name, description, content) => ({
  name,
  description,
  inputSchema: object(),
  call: () => ({ content }),
});

/** Every keyword of it has to reach the client as it is. */
const schemaOfManyKeywords = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Ordinary tools that answer with each kind of content. */
export const contentTools = [
  {
    name: "greet",
    description: "Greets at once.",
    inputSchema: object({ name: { type: "string" } }, ["name"]),
    call: ({ name }) => ({ content: [text(`Hello, ${name}!`)] }),
  },
  answers("test_simple_text", "Answers with text.", [text("This is a simple text response for testing.")]),
  answers("test_image_content", "Answers with an image.", [image]),
  answers("test_audio_content", "Answers with a sound.", [{ type: "audio", data: wav, mimeType: "audio/wav" }]),
  answers("test_embedded_resource", "Answers with a resource.", [
    {
      type: "resource",
      resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource." },
    },
  ]),
  answers("test_multiple_content_types", "Answers with several kinds of content.", [
    text("Several kinds of content:"),
    image,
    {
      type: "resource",
      resource: { uri: "test://mixed-content", mimeType: "application/json", text: '{"test":"data","value":123}' },
    },
  ]),
  {
    name: "test_error_handling",
    description: "Fails on purpose.",
    inputSchema: object(),
    call: () => {
      throw new Error("This tool fails on purpose.");
    },
  },
  {
    name: "test_tool_with_progress",
    description: "Tells how far it is.",
    inputSchema: object(),
    call: async (_input, { reportProgress }) => {
      for (const done of [0, 50, 100]) await reportProgress(done, 100);
      return { content: [text("Done.")] };
    },
  },
  {
    name: "test_x_mcp_header",
    description: "Has an argument that also travels as a header.",
    inputSchema: object({ region: { type: "string", "x-mcp-header": "Region" } }, ["region"]),
    call: ({ region }) => ({ content: [text(region)] }),
  },
  {
    name: "json_schema_2020_12_tool",
    description: "Is listed with a schema of many keywords.",
    inputSchema: schemaOfManyKeywords,
    call: () => ({ content: [text("Accepted.")] }),
  },
];
