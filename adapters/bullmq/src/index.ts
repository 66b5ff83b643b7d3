import type { CreateAdapter } from "@taskbridge/core/adapter";
import { bullmq } from "./bullmq.ts";

export { type BullmqAdapter, bullmq } from "./bullmq.ts";
export type { ConnectionSettings } from "./redis/connection.ts";
export type { JobOptions } from "./settings/parse-job-options.ts";
export type { BullmqAdapterOptions } from "./settings/parse-options.ts";
export type { BullmqTarget } from "./settings/parse-target.ts";

/**
 * For configuration files: `{ use: bullmq, url?, connection?, prefix?, jobOptions? }`, where `connection`, in place of `url`, is the same
 * text or ioredis' settings.
 */
export const createAdapter: CreateAdapter = (options) => bullmq(options);
