import type { CreateAdapter } from "@taskbridge/core/adapter";
import { stepFunctions } from "./step-functions.ts";

export type { StepFunctionsOptions } from "./settings/parse-options.ts";
export type { StepFunctionsTarget } from "./settings/parse-target.ts";
export { stepFunctions } from "./step-functions.ts";

/** For configuration files: `{ use: step-functions, type?, region?, endpoint?, profile?, queueUrl?, queueEndpoint?, quotaShare? }`. */
export const createAdapter: CreateAdapter = (options) => stepFunctions(options);
