import { asExecutionRef, BridgeError, type ExecutionRef } from "@taskbridge/core/adapter";

/** Where a job is: its ID alone is unique in its queue only. */
export interface JobLocation {
  readonly prefix: string;
  readonly queue: string;
  readonly id: string;
}

/**
 * What BullMQ's key of a job may stand for, by which parents name their children; the likeliest first. An ID of one's own has one
 * part or three (`a:b:c`), and a prefix any number: under the parent's prefix, which children have unless they are told
 * otherwise, that is clear, and else only where the key is short.
 */
export const parseJobKeys = (key: string, parentPrefix: string): readonly JobLocation[] => {
  const parts = key.split(":");
  const locations = [1, 3].flatMap((length): JobLocation[] => {
    const [queue = "", ...id] = parts.slice(-length - 1);
    const prefix = parts.slice(0, -length - 1).join(":");
    return prefix === "" || queue === "" || id.includes("") ? [] : [{ prefix, queue, id: id.join(":") }];
  });
  return locations.sort((one, other) => Number(other.prefix === parentPrefix) - Number(one.prefix === parentPrefix));
};

export const toRef = ({ prefix, queue, id }: JobLocation): ExecutionRef =>
  asExecutionRef(JSON.stringify({ v: 1, prefix, queue, id }));

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Refs of every earlier version must be understood for ever. */
export const parseRef = (ref: ExecutionRef): JobLocation => {
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
