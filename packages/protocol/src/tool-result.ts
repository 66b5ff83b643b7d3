import type { JsonValue } from "@taskbridge/core";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ResourceLinkBlock {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
}

/** What a tool call answers, in the shape that every revision of MCP shares. */
export interface ToolResult {
  readonly content: readonly (TextBlock | ResourceLinkBlock)[];
  readonly structuredContent?: JsonValue;
  readonly isError: boolean;
}

export const textBlock = (text: string): TextBlock => ({ type: "text", text });

/** A result that tells the model what went wrong, so that it can correct itself. */
export const toErrorResult = (message: string, ...more: readonly string[]): ToolResult => ({
  content: [message, ...more].map(textBlock),
  isError: true,
});
