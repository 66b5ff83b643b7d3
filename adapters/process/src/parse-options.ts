import { isAbsolute, resolve } from "node:path";
import { misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

export interface ProcessAdapterOptions {
  /** Folder that the jobs are kept in, one folder each; made when it is missing. On a disk of this host. */
  readonly directory: string;
  /** Milliseconds between SIGTERM and SIGKILL when a job is cancelled. Default 5000. */
  readonly graceMs?: number;
  /** The most that is kept of a job's stdout, of its stderr and of its result (bytes each); a job whose output or result is longer fails. Default 1 GiB. */
  readonly maxOutputBytes?: number;
  /** What `directory` and a target's `cwd` are relative to, and where commands run by default. Default: the current working directory. */
  readonly baseDirectory?: string;
}

export type ParsedOptions = Required<ProcessAdapterOptions>;

const maxGraceMs = 24 * 60 * 60 * 1000;

const parseWhole = (path: string, value: unknown, fallback: number, max: number): number => {
  if (value === undefined) return fallback;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw misconfigured(path, `must be a whole number from 0 to ${max}, got ${showValue(value)}`);
};

const parsePath = (path: string, value: unknown): string => {
  if (typeof value === "string" && value !== "" && !value.includes("\0")) return value;
  throw misconfigured(path, `must be a path, got ${showValue(value)}`);
};

const names = ["directory", "graceMs", "maxOutputBytes", "baseDirectory"];

/** Checks what a program or a configuration file gave. Throws `misconfigured` with `data.path`. */
export const parseOptions = (options: Readonly<Record<string, unknown>>): ParsedOptions => {
  refuseOtherMembers(options, names, "", "unknown option");
  const baseDirectory = parsePath("baseDirectory", options.baseDirectory ?? process.cwd());
  if (!isAbsolute(baseDirectory))
    throw misconfigured("baseDirectory", `must be absolute, got ${showValue(baseDirectory)}`);
  return {
    baseDirectory,
    directory: resolve(baseDirectory, parsePath("directory", options.directory)),
    graceMs: parseWhole("graceMs", options.graceMs, 5000, maxGraceMs),
    maxOutputBytes: parseWhole("maxOutputBytes", options.maxOutputBytes, 1024 ** 3, Number.MAX_SAFE_INTEGER),
  };
};
