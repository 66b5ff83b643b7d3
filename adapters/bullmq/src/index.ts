import type { CreateAdapter } from "@taskbridge/core/adapter";
import { bullmq } from "./bullmq.ts";

export { type BullmqAdapter, bullmq } from "./bullmq.ts";
export type { JobOptions } from "./parse-job-options.ts";
export type { BullmqAdapterOptions } from "./parse-options.ts";
export type { BullmqTarget } from "./parse-target.ts";

/** For configuration files: `{ use: bullmq, url?, prefix?, jobOptions? }`. */
export const createAdapter: CreateAdapter = (options) => bullmq(options);
