import type { CallContext } from "@taskbridge/core/adapter";

export type LogOnce = (text: string, log: CallContext["log"]) => void;

/** Warns operators of something, once. */
export const logOnce = (): LogOnce => {
  const told = new Set<string>();
  return (text, log) => {
    if (told.has(text)) return;
    told.add(text);
    log("warn", text);
  };
};
