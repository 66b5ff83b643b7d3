import { BridgeError } from "@taskbridge/core";

/** The `invalid_input` for a member of a request; `path`: which one, by its names, as `data.path` repeats. */
export const invalidInput = (path: string, text: string, data: Readonly<Record<string, unknown>> = {}): BridgeError =>
  new BridgeError("invalid_input", `${path}: ${text}`, { data: { path, ...data } });
