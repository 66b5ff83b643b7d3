import { relatedTaskKey } from "@taskbridge/protocol/tasks-2025-11-25";
import { relatedTaskKey as sep1686Key } from "@taskbridge/protocol/tasks-sep1686";

interface MessageParams {
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A question as 2025-11-25 puts it, tied to its task by the key that the draft has for that. */
export const relateAsSep1686 = (params: MessageParams): object => {
  const { [relatedTaskKey]: related, ...meta } = params._meta ?? {};
  return related === undefined ? params : { ...params, _meta: { ...meta, [sep1686Key]: related } };
};
