export { type AttachOptions, attachTasks } from "./attach/attach-tasks.ts";
export type { AttachableServer } from "./attach/sdk-server.ts";
export { type StreamableHandler, withTaskStreams } from "./attach/with-task-streams.ts";
export type { Authenticator, AuthOutcome, Identity } from "./auth/authenticator.ts";
export { tokenFile } from "./auth/token-file.ts";
export type { OwnerPolicy } from "./caller.ts";
export { createTaskServer } from "./create-task-server.ts";
export type { Readiness } from "./health/readiness.ts";
export { isLoopback } from "./http/loopback.ts";
export type { PlainTool, PlainToolContext, PlainToolResult } from "./mcp/plain-tool.ts";
export type { CompanionsPolicy } from "./mcp/serve-context.ts";
export { defaultWires, type WireName } from "./parse-wires.ts";
export { defaultWireLimits, type WireLimits } from "./server-limits.ts";
export type { ServerLog } from "./server-log.ts";
export type {
  CloseOptions,
  ListeningServer,
  ListenOptions,
  TaskServer,
  TaskServerOptions,
} from "./task-server-options.ts";
