import { existsSync } from "node:fs";
import { usageError } from "../cli-error.ts";

/** Used when `--config` is left out: commands that a person is told to type then need no flag. */
export const defaultConfigFile = "taskbridge.yaml";

/** The file of `--config`, or the current folder's own. Throws a usage error that says what to give when there is neither. */
export const chooseConfig = (given: string | undefined, wanted = "--config FILE"): string => {
  if (given !== undefined) return given;
  if (existsSync(defaultConfigFile)) return defaultConfigFile;
  throw usageError(`give ${wanted}: there is no ${defaultConfigFile} in this folder`);
};
