import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  ErrorV2Schema,
  GetTaskResultV2Schema,
  InputRequiredCallToolResultV2Schema,
  TaskStatusNotificationV2Schema,
  TaskSubscriptionAcknowledgedNotificationsV2Schema,
  ToolV2Schema,
  UpdateTaskResultV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import { isSpecType, specTypeSchemas } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Definitions } from "./standard-schema.ts";

/*
 * SDK v2 exports one set of schemas for all revisions, which leaves out what only 2026-07-28 requires. That part is written here,
 * from https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
const complete = z.looseObject({ resultType: z.literal("complete") });
const cacheable = complete.extend({ ttlMs: z.int().min(0), cacheScope: z.enum(["private", "public"]) });
const jsonrpc = z.looseObject({ jsonrpc: z.literal("2.0") });
const missingCapability = z.looseObject({
  error: z.looseObject({
    code: z.literal(-32_021),
    data: z.looseObject({ requiredCapabilities: z.custom(isSpecType.ClientCapabilities) }),
  }),
});

/** What SDK v2 exports. */
export const definitions20260728: Definitions = {
  CallToolResult: [specTypeSchemas.CallToolResult, complete.extend({ content: z.array(z.unknown()) })],
  DiscoverResult: [specTypeSchemas.DiscoverResult, cacheable],
  Error: [ErrorV2Schema],
  HeaderMismatchError: [specTypeSchemas.JSONRPCErrorResponse],
  InputRequiredResult: [InputRequiredCallToolResultV2Schema],
  JSONRPCErrorResponse: [specTypeSchemas.JSONRPCErrorResponse],
  JSONRPCNotification: [specTypeSchemas.JSONRPCNotification],
  JSONRPCResultResponse: [specTypeSchemas.JSONRPCResultResponse],
  ListToolsResult: [specTypeSchemas.ListToolsResult, cacheable.extend({ tools: z.array(ToolV2Schema) })],
  MissingRequiredClientCapabilityError: [specTypeSchemas.JSONRPCErrorResponse, missingCapability],
  ProgressNotification: [specTypeSchemas.ProgressNotification, jsonrpc],
  ReadResourceResult: [specTypeSchemas.ReadResourceResult, cacheable],
  SubscriptionsAcknowledgedNotification: [specTypeSchemas.SubscriptionsAcknowledgedNotification, jsonrpc],
  SubscriptionsListenResult: [specTypeSchemas.SubscriptionsListenResult, complete],
};

/** What the package of the tasks extension exports. */
export const definitionsExtTasks: Definitions = {
  CancelTaskResult: [CancelTaskResultV2Schema],
  CreateTaskResult: [CreateTaskResultV2Schema],
  GetTaskResult: [GetTaskResultV2Schema],
  TaskStatusNotification: [TaskStatusNotificationV2Schema],
  TaskSubscriptionAcknowledgedNotifications: [TaskSubscriptionAcknowledgedNotificationsV2Schema],
  UpdateTaskResult: [UpdateTaskResultV2Schema],
};
