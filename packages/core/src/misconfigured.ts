import { BridgeError } from "./contract/bridge-error.ts";

/**
 * The error of options or a target that cannot work. `path`: where, such as `options.delay`, which also goes into `data.path`;
 * empty for the whole. `problem`: what is wrong, so that it reads behind the path: "must be a text, got 7".
 */
export const misconfigured = (path: string, problem: string): BridgeError =>
  new BridgeError("misconfigured", path === "" ? problem : `${path}: ${problem}`, { data: { path } });
