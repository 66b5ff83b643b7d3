/**
 * For worker processes: has running jobs hear of a cancel, and lets those of tasks ask. Imports nothing of BullMQ: it uses the `Worker`
 * that runs the job. A job of somebody else works as before.
 */
export { ask, type JobAnswer, type JobQuestion } from "./worker/ask.ts";
export {
  type BridgedProcessor,
  type BridgeOptions,
  bridgeProcessor,
  type JobProcessor,
} from "./worker/bridge-processor.ts";
export type { BridgedJob } from "./worker/job-run.ts";
