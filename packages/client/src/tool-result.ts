/**
 * What a call is answered with. Can be given to whatever takes a `CallToolResult` of either SDK; members that are newer than
 * these types are kept.
 */
export interface ToolResult {
  /** Content blocks, as the server sent them. */
  content: ContentBlock[];
  structuredContent?: { [name: string]: unknown };
  /** The tool reports that it failed; why is in `content`. */
  isError?: boolean;
  _meta?: { [name: string]: unknown };
  [name: string]: unknown;
}

export type ContentBlock = TextBlock | MediaBlock | LinkBlock | ResourceBlock;

interface Block {
  annotations?: { audience?: ("user" | "assistant")[]; priority?: number; lastModified?: string };
  _meta?: { [name: string]: unknown };
}

export interface TextBlock extends Block {
  type: "text";
  text: string;
}

export interface MediaBlock extends Block {
  type: "image" | "audio";
  /** Base64. */
  data: string;
  mimeType: string;
}

/** Where something is that the client can read. */
export interface LinkBlock extends Block {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}

export interface ResourceBlock extends Block {
  type: "resource";
  resource:
    | { uri: string; mimeType?: string; text: string; _meta?: { [name: string]: unknown } }
    | { uri: string; mimeType?: string; blob: string; _meta?: { [name: string]: unknown } };
}
