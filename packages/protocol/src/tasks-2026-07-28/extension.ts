/** The revision of MCP whose requests carry the extension. */
export const protocolVersion = "2026-07-28";

/** https://github.com/modelcontextprotocol/ext-tasks */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** No settings are defined: an empty object says that it is supported. */
export const declaredExtension: Readonly<Record<string, Record<string, never>>> = { [tasksExtension]: {} };

export const missingCapabilityCode = -32_021;

/** The `data` of a refusal for want of the extension. */
export const missingExtension: {
  readonly requiredCapabilities: { readonly extensions: Readonly<Record<string, Record<string, never>>> };
} = { requiredCapabilities: { extensions: declaredExtension } };

export const missingExtensionMessage = "Missing required client capabilities: extensions";
