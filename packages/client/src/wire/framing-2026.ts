import { withTaskCapabilityV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { type Members, toMembers } from "../is-object.ts";

export interface FramingOptions {
  readonly clientInfo: Members;
  /** What a person can be asked: `{ form: {} }`, `{ url: {} }` or both. */
  readonly elicitation: Members;
}

/** Puts into a request what it has to say of itself. `asks`: whether a person can be asked. */
export type Frame = (params: Members, asks?: boolean) => Members;

/** Requests of revision 2026-07-28. `tasks`: calls may be answered with tasks. */
export const framing2026 =
  ({ clientInfo, elicitation }: FramingOptions, tasks: boolean): Frame =>
  (params, asks = true) => {
    const framed = {
      ...params,
      _meta: {
        ...toMembers(params["_meta"]),
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": clientInfo,
        "io.modelcontextprotocol/clientCapabilities": asks ? { elicitation } : {},
      },
    };
    return tasks ? withTaskCapabilityV2(framed as never) : framed;
  };

/** Earlier revisions say it once, when they connect. */
export const unframed: Frame = (params) => params;
