import { randomBytes } from "node:crypto";
import { asStartKey, type CallContext, type StartKey } from "@taskbridge/core/adapter";

export const newKey = (): StartKey => asStartKey(`mcp-${randomBytes(16).toString("hex")}`);

export interface LoggedContext extends CallContext {
  readonly logged: readonly string[];
}

/** What a verb is called with. */
export const callContext = (given: Partial<CallContext> = {}): LoggedContext => {
  const logged: string[] = [];
  return {
    signal: new AbortController().signal,
    now: () => Date.now(),
    log: (_level, message) => {
      logged.push(message);
    },
    ...given,
    logged,
  };
};
