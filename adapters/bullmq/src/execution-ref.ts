import { asExecutionRef, BridgeError, type ExecutionRef } from "@taskbridge/core/adapter";

/** Where a job is: its ID alone is unique in its queue only. */
export interface JobPlace {
  readonly prefix: string;
  readonly queue: string;
  readonly id: string;
}

/**
 * BullMQ's key of a job, by which parents name their children. An ID of one's own may have three parts (`a:b:c`) as well as one,
 * and a prefix any number: under the parent's prefix, which children have unless they are told otherwise, that is clear.
 */
export const parseJobKey = (key: string, parentPrefix: string): JobPlace | undefined => {
  const [own, ...parts] = key.startsWith(`${parentPrefix}:`) ? key.slice(parentPrefix.length + 1).split(":") : [];
  if (own !== undefined && own !== "" && (parts.length === 1 || parts.length === 3))
    return { prefix: parentPrefix, queue: own, id: parts.join(":") };
  const [, prefix, queue, id] = /^(.+):([^:]+):([^:]+)$/.exec(key) ?? [];
  return prefix === undefined || queue === undefined || id === undefined ? undefined : { prefix, queue, id };
};

export const toRef = ({ prefix, queue, id }: JobPlace): ExecutionRef =>
  asExecutionRef(JSON.stringify({ v: 1, prefix, queue, id }));

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Refs of every earlier version must be understood for ever. */
export const parseRef = (ref: ExecutionRef): JobPlace => {
  let value: unknown;
  try {
    value = JSON.parse(ref);
  } catch {
    value = undefined;
  }
  const { v, prefix, queue, id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (v === 1 && isName(prefix) && isName(queue) && isName(id)) return { prefix, queue, id };
  throw new BridgeError("invalid_input", `not a reference of the BullMQ adapter: ${ref.slice(0, 100)}`, {
    data: { path: "ref" },
  });
};
