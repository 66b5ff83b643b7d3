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
 * SDK v2 exports one set of schemas for all revisions, which leaves out what only 2026-07-28 requires, and the extension's package
 * leaves forms open. Both parts are written here, from https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
const meta = z
  .looseObject({
    "io.modelcontextprotocol/serverInfo": z.custom(isSpecType.Implementation).optional(),
    "io.modelcontextprotocol/subscriptionId": z.custom(isSpecType.RequestId).optional(),
  })
  .optional();
const result = z.looseObject({ _meta: meta });
const complete = result.extend({ resultType: z.literal("complete") });
const cacheable = complete.extend({ ttlMs: z.int().min(0), cacheScope: z.enum(["private", "public"]) });
const notification = z.looseObject({ jsonrpc: z.literal("2.0"), params: result });

/** A question by a form; one by a URL has fewer members than the SDK's schema requires, and the extension's package checks those. */
const form = z.looseObject({ params: z.custom(isSpecType.ElicitRequestFormParams) });
const url = z.looseObject({ params: z.looseObject({ mode: z.literal("url") }) });
const other = z.looseObject({ method: z.enum(["sampling/createMessage", "roots/list"]) });
const questions = z.looseObject({ inputRequests: z.record(z.string(), z.union([form, url, other])).optional() });

const content = z.array(z.looseObject({ uri: z.url().optional(), size: z.int().optional() }));
const contents = z.array(z.looseObject({ uri: z.url() }));
const missingCapability = z.looseObject({
  error: z.looseObject({
    code: z.literal(-32_021),
    data: z.looseObject({ requiredCapabilities: z.custom(isSpecType.ClientCapabilities) }),
  }),
});

/** What SDK v2 exports. */
export const definitions20260728: Definitions = {
  CallToolResult: [specTypeSchemas.CallToolResult, complete.extend({ content })],
  DiscoverResult: [specTypeSchemas.DiscoverResult, cacheable],
  Error: [ErrorV2Schema],
  HeaderMismatchError: [specTypeSchemas.JSONRPCErrorResponse],
  InputRequiredResult: [InputRequiredCallToolResultV2Schema, result, questions],
  JSONRPCErrorResponse: [specTypeSchemas.JSONRPCErrorResponse],
  JSONRPCNotification: [specTypeSchemas.JSONRPCNotification],
  JSONRPCResultResponse: [specTypeSchemas.JSONRPCResultResponse],
  ListToolsResult: [specTypeSchemas.ListToolsResult, cacheable.extend({ tools: z.array(ToolV2Schema) })],
  MissingRequiredClientCapabilityError: [specTypeSchemas.JSONRPCErrorResponse, missingCapability],
  ProgressNotification: [specTypeSchemas.ProgressNotification, notification],
  ReadResourceResult: [specTypeSchemas.ReadResourceResult, cacheable.extend({ contents })],
  SubscriptionsAcknowledgedNotification: [specTypeSchemas.SubscriptionsAcknowledgedNotification, notification],
  SubscriptionsListenResult: [specTypeSchemas.SubscriptionsListenResult, complete],
};

/** What the package of the tasks extension exports. */
export const definitionsExtTasks: Definitions = {
  CancelTaskResult: [CancelTaskResultV2Schema, result],
  CreateTaskResult: [CreateTaskResultV2Schema, result],
  GetTaskResult: [GetTaskResultV2Schema, result, questions],
  TaskStatusNotification: [TaskStatusNotificationV2Schema, notification, z.looseObject({ params: questions })],
  TaskSubscriptionAcknowledgedNotifications: [TaskSubscriptionAcknowledgedNotificationsV2Schema],
  UpdateTaskResult: [UpdateTaskResultV2Schema, result],
};
