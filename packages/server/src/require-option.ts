import { BridgeError } from "@taskbridge/core";

/** The error for an option that cannot work. `path`: the option, by the name that whoever gives it knows. */
export const misconfigured = (path: string, message: string): BridgeError =>
  new BridgeError("misconfigured", `${path}: ${message}`, { data: { path } });

/** Throws `misconfigured`, saying what is needed and what was got, unless an option is good. */
export const requireOption = (isGood: boolean, path: string, needed: string, got: unknown): void => {
  if (!isGood) throw misconfigured(path, `${needed}, got ${JSON.stringify(got)}`);
};
