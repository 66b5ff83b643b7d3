import type { CreateAdapter } from "@taskbridge/core/adapter";
import { cloudWorkflowsFrom } from "./cloud-workflows.ts";
import { parseOptions } from "./settings/parse-options.ts";

export { cloudWorkflows } from "./cloud-workflows.ts";
export type { CloudWorkflowsOptions } from "./settings/parse-options.ts";
export type { CloudWorkflowsTarget } from "./settings/parse-target.ts";

/** For configuration files: `{ use: cloud-workflows, project, location, endpoint?, keyFile?, credentials?, questions?, quotaShare? }`. */
export const createAdapter: CreateAdapter = (options, { baseDirectory }) =>
  cloudWorkflowsFrom(parseOptions(options, baseDirectory));
