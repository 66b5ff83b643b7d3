import { checkAdapter, type PlacedFinding } from "./check-adapter.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { formatPath } from "./config-path.ts";
import type { Pipelines } from "./load-pipelines.ts";

/**
 * Asks all backends whether this configuration can work. Throws one ConfigError with what is wrong for certain; what may pass, such
 * as a backend that is away, is only a warning, and keeps nobody from starting.
 */
export const requireBackends = async (
  config: Config,
  pipelines: Pipelines,
  warn: (message: string) => void,
  /** How long a start waits for the backends (milliseconds). */
  timeoutMs = 5_000,
): Promise<void> => {
  const used = Object.keys(pipelines.adapters).filter((name) => config.tools.some(({ adapter }) => adapter === name));
  const findings = await Promise.all(used.map((name) => checkAdapter(config, pipelines, name, timeoutMs)));
  const errors = findings.flat().filter(({ level }) => level === "error");
  const isCertain = ({ code }: PlacedFinding): boolean => code === "misconfigured";
  for (const { location, message } of errors.filter((finding) => !isCertain(finding)))
    warn(`${formatPath(location)}: ${message}`);
  const faults = errors.filter(isCertain).flatMap(({ location, message }) => config.fault(location, message).faults);
  if (faults.length > 0) throw new ConfigError(config.file, faults);
};
