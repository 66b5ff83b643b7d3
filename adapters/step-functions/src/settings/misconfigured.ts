import { BridgeError } from "@taskbridge/core/adapter";

export const misconfigured = (path: string, problem: string): BridgeError =>
  new BridgeError("misconfigured", path === "" ? problem : `${path}: ${problem}`, { data: { path } });

export const show = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 100);

/** Refuses members that are none of these. */
export const refuseOthers = (value: object, known: readonly string[], what: string): void => {
  for (const name of Object.keys(value)) if (!known.includes(name)) throw misconfigured(name, what);
};
