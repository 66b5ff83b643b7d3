/** The revision of MCP that has tasks in its core. */
export const protocolVersion = "2025-11-25";

type Supported = Readonly<Record<string, never>>;

export interface ServerTasksCapability {
  readonly list?: Supported;
  readonly cancel: Supported;
  readonly requests: { readonly tools: { readonly call: Supported } };
}

/**
 * The `tasks` of a server's capabilities. `canList`: callers can be told apart; a server that cannot tell them should not
 * list: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-isolation-and-access-control
 */
export const serverTasksCapability = (canList: boolean): ServerTasksCapability => ({
  ...(canList ? { list: {} } : {}),
  cancel: {},
  requests: { tools: { call: {} } },
});
