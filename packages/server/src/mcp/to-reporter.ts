import type { TaskRecord } from "@taskbridge/core";
import { progressMethod, toProgress } from "@taskbridge/protocol/no-tasks";
import type { CallRequest } from "./call-request.ts";
import type { ServeContext } from "./serve-context.ts";

export interface Reporting {
  readonly context: Pick<ServeContext, "log">;
  readonly request: Pick<CallRequest, "progressToken" | "notify">;
  /** Whether the caller has read what it was told before: a slow one is not told more. Default: always. */
  readonly isReady?: () => boolean;
  /** The `_meta` of what is told. */
  readonly meta?: object;
}

/** Tells a caller how its task goes; undefined: it has not asked for that. */
export const toReporter = ({
  context,
  request,
  isReady = () => true,
  meta,
}: Reporting): ((record: TaskRecord) => void) | undefined => {
  const token = request.progressToken;
  if (token === undefined) return undefined;
  let last = 0;
  return (record) => {
    if (!isReady()) return;
    const params = toProgress(record, token, last);
    last = params.progress;
    const reported = { ...params, ...(meta === undefined ? {} : { _meta: meta }) };
    request.notify(progressMethod, reported).catch((error: unknown) => {
      context.log.debug({ err: error }, "progress could not be sent");
    });
  };
};
