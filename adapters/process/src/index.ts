import { type CreateAdapter, misconfigured } from "@taskbridge/core/adapter";
import type { ProcessAdapterOptions } from "./parse-options.ts";
import { processAdapter } from "./process.ts";

export type { ProcessAdapterOptions } from "./parse-options.ts";
export type { ProcessTarget } from "./parse-target.ts";
export { type ProcessAdapter, processAdapter } from "./process.ts";

/** For configuration files: `{ use: process, directory, graceMs?, maxOutputBytes? }`, relative to the file's folder. */
export const createAdapter: CreateAdapter = (options, { baseDirectory }) => {
  if ("baseDirectory" in options) throw misconfigured("baseDirectory", "is the configuration file's folder");
  return processAdapter({ ...options, baseDirectory } as unknown as ProcessAdapterOptions);
};
