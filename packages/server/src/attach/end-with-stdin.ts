import type { EventEmitter } from "node:events";
import type { TaskServerInternals } from "../task-server-internals.ts";

/**
 * A server on stdin and stdout ends when its client goes away, which both SDKs leave to the process running out of things
 * to do. A task server never does, so that it is closed then, unless it serves clients of its own.
 */
export const endWithStdin = (transport: object, tasks: Pick<TaskServerInternals, "closeUnlessServing">): void => {
  const { _stdin: input } = transport as { readonly _stdin?: EventEmitter };
  if (typeof input?.once === "function") input.once("end", tasks.closeUnlessServing);
};
