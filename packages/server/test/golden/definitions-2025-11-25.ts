import {
  CallToolResultSchema,
  CancelledNotificationSchema,
  CancelTaskRequestSchema,
  CancelTaskResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  EmptyResultSchema,
  GetTaskPayloadRequestSchema,
  GetTaskPayloadResultSchema,
  GetTaskRequestSchema,
  GetTaskResultSchema,
  InitializeResultSchema,
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResultResponseSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListTasksResultSchema,
  ListToolsResultSchema,
  ProgressNotificationSchema,
  ReadResourceResultSchema,
  RelatedTaskMetadataSchema,
  ServerRequestSchema,
  TaskStatusNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { Definitions } from "./standard-schema.ts";

/**
 * The SDK fills in an empty `content`, which the specification requires, and accepts any text as a URI and a fraction as a size:
 * https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult
 */
const withContent = z.looseObject({
  content: z.array(z.looseObject({ uri: z.url().optional(), size: z.int().optional() })),
});

/** The SDK accepts fractions: https://modelcontextprotocol.io/specification/2025-11-25/schema#task */
const withIntegers = z.looseObject({ ttl: z.int().nullable(), pollInterval: z.int().optional() });

/** The SDK accepts any text as a URI. */
const withUris = z.looseObject({ contents: z.array(z.looseObject({ uri: z.url() })) });

/** What SDK v1 exports for the revision. Where the SDK accepts more than the specification, a schema of ours is added. */
export const definitions20251125: Definitions = {
  CallToolResult: [CallToolResultSchema, withContent],
  CancelledNotification: [CancelledNotificationSchema],
  CancelTaskRequest: [CancelTaskRequestSchema],
  CancelTaskResult: [CancelTaskResultSchema, withIntegers],
  CreateMessageRequest: [CreateMessageRequestSchema],
  CreateTaskResult: [CreateTaskResultSchema, z.looseObject({ task: withIntegers })],
  ElicitRequest: [ElicitRequestSchema],
  EmptyResult: [EmptyResultSchema],
  GetTaskPayloadRequest: [GetTaskPayloadRequestSchema],
  GetTaskPayloadResult: [GetTaskPayloadResultSchema],
  GetTaskRequest: [GetTaskRequestSchema],
  GetTaskResult: [GetTaskResultSchema, withIntegers],
  InitializeResult: [InitializeResultSchema],
  JSONRPCErrorResponse: [JSONRPCErrorResponseSchema],
  JSONRPCNotification: [JSONRPCNotificationSchema],
  JSONRPCRequest: [JSONRPCRequestSchema],
  JSONRPCResultResponse: [JSONRPCResultResponseSchema],
  ListResourcesResult: [ListResourcesResultSchema],
  ListResourceTemplatesResult: [ListResourceTemplatesResultSchema],
  ListTasksResult: [ListTasksResultSchema, z.looseObject({ tasks: z.array(withIntegers) })],
  ListToolsResult: [ListToolsResultSchema],
  ProgressNotification: [ProgressNotificationSchema],
  ReadResourceResult: [ReadResourceResultSchema, withUris],
  RelatedTaskMetadata: [RelatedTaskMetadataSchema],
  ServerRequest: [ServerRequestSchema],
  TaskStatusNotification: [TaskStatusNotificationSchema, z.looseObject({ params: withIntegers })],
  ToolListChangedNotification: [ToolListChangedNotificationSchema],
};
