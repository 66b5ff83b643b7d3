import { relatedTaskKey } from "@taskbridge/protocol/rev-2025-11-25";
import { relatedTaskKey as draftKey } from "@taskbridge/protocol/sep-1686";

interface Told {
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A question as 2025-11-25 puts it, tied to its task by the key that the draft has for that. */
export const relateAsDraft = (params: Told): object => {
  const { [relatedTaskKey]: related, ...meta } = params._meta ?? {};
  return related === undefined ? params : { ...params, _meta: { ...meta, [draftKey]: related } };
};
