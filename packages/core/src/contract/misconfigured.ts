import { BridgeError } from "./bridge-error.ts";

/**
 * The error of options or a target that cannot work. `path`: where, such as `options.delay`, which also goes into `data.path`;
 * empty for the whole. `problem`: what is wrong, so that it reads behind the path: "must be a text, got 7".
 */
export const misconfigured = (path: string, problem: string, cause?: unknown): BridgeError =>
  new BridgeError("misconfigured", path === "" ? problem : `${path}: ${problem}`, { data: { path }, cause });

/** The error of what a caller gave. `path`: which argument, also in `data.path`. */
export const invalidInput = (path: string, problem: string): BridgeError =>
  new BridgeError("invalid_input", `${path}: ${problem}`, { data: { path } });

/**
 * Throws `misconfigured` at the first member of a value that is none of the known. `at`: what stands before its name in the
 * path, such as `options.`; empty at the top. `problem`: "unknown option".
 */
export const refuseOtherMembers = (value: object, known: readonly string[], at: string, problem: string): void => {
  for (const name of Object.keys(value)) if (!known.includes(name)) throw misconfigured(`${at}${name}`, problem);
};

const maxLength = 100;

/** A value as a message tells it ("must be a text, got 7"): its JSON, at most 100 characters. Never throws. */
export const showValue = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, maxLength);
  } catch {
    // A bigint, a thing that holds itself.
    return Object.prototype.toString.call(value);
  }
};
