/**
 * For worker processes: has running jobs hear of a cancel, and lets them ask. Of BullMQ 6, which is there already, it imports
 * nothing; a job of somebody else works as before.
 */
export { ask, type JobAnswer, type JobQuestion } from "./worker/ask.ts";
export { type BridgeOptions, bridgeProcessor, type JobProcessor } from "./worker/bridge-processor.ts";
export type { BridgedJob } from "./worker/job-run.ts";
