import type { ToolDefinition } from "@taskbridge/core";
import type { FakeAdapterOptions } from "@taskbridge/testkit/adapter";

interface OurPipelines {
  readonly largeText: string;
  readonly ourTools: readonly ToolDefinition[];
  readonly ourFake: FakeAdapterOptions;
  readonly ourLimits: { readonly maxInlineResultBytes: number };
}

/** JavaScript, because a process of its own serves them as well. */
const shared: OurPipelines = await import(new URL("./our-pipelines.mjs", import.meta.url).href);

export const largeText: string = shared.largeText;
export const ourTools: readonly ToolDefinition[] = shared.ourTools;
export const ourFake: FakeAdapterOptions = shared.ourFake;
export const ourLimits: OurPipelines["ourLimits"] = shared.ourLimits;
