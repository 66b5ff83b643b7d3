import { type CallContext, toBridgeError } from "@taskbridge/core/adapter";

type Log = CallContext["log"];

/** Warnings for operators, each logged once. */
export interface Complaints {
  add(text: string, log: Log): void;
  /** `what` is not seen, because of an error. Not of what AWS does not show (yet). */
  addError(what: string, error: unknown, log: Log): void;
}

export const complaints = (): Complaints => {
  const told = new Set<string>();
  const add = (text: string, log: Log): void => {
    if (told.has(text)) return;
    told.add(text);
    log("warn", text);
  };
  return {
    add,
    addError: (what, error, log) => {
      const { code, message } = toBridgeError(error);
      if (code !== "not_found") add(`${what}: ${message}`, log);
    },
  };
};
