import type { CallContext } from "@taskbridge/core/adapter";

export type LogOnce = (text: string, log: CallContext["log"]) => void;

/** Warns operators of something, once. */
export const logOnce = (): LogOnce => {
  const logged = new Set<string>();
  return (text, log) => {
    if (logged.has(text)) return;
    logged.add(text);
    log("warn", text);
  };
};
