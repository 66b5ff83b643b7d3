/** BullMQ is imported here only. */
export { Queue as BullQueue } from "bullmq";
