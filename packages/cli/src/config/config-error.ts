import { type ConfigPath, formatPath } from "./config-path.ts";

/** One fault of a configuration file. Lines and columns count from 1. */
export interface ConfigFault {
  readonly path: ConfigPath;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** A configuration that cannot be used. The message holds one line for each fault and never a secret. */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";
  readonly file: string;
  readonly faults: readonly ConfigFault[];

  constructor(file: string, faults: readonly ConfigFault[]) {
    super(faults.map((fault) => formatFault(file, fault)).join("\n"));
    this.file = file;
    this.faults = faults;
  }
}

/** `taskbridge.yaml:12: tools[2].target.queue: …`; a fault of the YAML itself has no path, and tells its column instead. */
const formatFault = (file: string, { path, message, line, column }: ConfigFault): string => {
  const location = [file, line, path.length === 0 ? column : undefined].filter((part) => part !== undefined).join(":");
  return [location, formatPath(path), message].filter((part) => part !== "").join(": ");
};
