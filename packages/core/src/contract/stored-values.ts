import { BridgeError } from "./bridge-error.ts";
import { maxValueBytes, type StoredValues } from "./task-store.ts";

/** Throws `invalid_input` for a value that is longer than `maxValueBytes`, as every store's `values.write` does. */
export const assertValue = (name: string, value: string): void => {
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxValueBytes) return;
  throw new BridgeError("invalid_input", `the value of ${name} has ${bytes} bytes; at most ${maxValueBytes} are kept`, {
    operation: "values.write",
  });
};

/** A `probe` for stores that keep their values where they keep their tasks. A write that lost to another process's is one that worked. */
export const probeValues = async ({ read, write }: StoredValues, name = "probe"): Promise<void> => {
  const previous = await read(name);
  await write(name, String(Number(previous ?? 0) + 1), previous);
};
