import { isObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";
import { type JobOptions, parseJobOptions } from "./parse-job-options.ts";

/** The queue of a tool. Frozen into each task, so that it is JSON and always has the same form. */
export interface BullmqTarget {
  /** Its name, without the prefix. May hold `{{input.x}}`; a queue like that is looked at, but not listened to. */
  readonly queue: string;
  /** The job's name. Default: the queue's. */
  readonly job: string;
  readonly options?: JobOptions;
}

const parseName = (path: string, value: unknown): string => {
  if (typeof value === "string" && value !== "") return value;
  throw misconfigured(path, `must be a name, got ${showValue(value)}`);
};

/** Checks the shape of a target. Throws `misconfigured` with `data.path`. */
export const parseTarget = (target: unknown): BullmqTarget => {
  if (!isObject(target)) throw misconfigured("", `must be { queue, job?, options? }, got ${showValue(target)}`);
  refuseOtherMembers(target, ["queue", "job", "options"], "", "unknown member");
  const queue = parseName("queue", target.queue);
  if (queue.includes(":")) throw misconfigured("queue", `a queue's name has no colon, got ${showValue(queue)}`);
  const job = parseName("job", target.job ?? queue);
  return {
    queue,
    job,
    ...(target.options === undefined ? {} : { options: parseJobOptions(target.options, "options") }),
  };
};
