import { BridgeError } from "./bridge-error.ts";
import type { PayloadRange } from "./task-store.ts";

/** Whether a number counts bytes: a whole one from 0. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Throws `invalid_input` unless both of a range's numbers are whole ones from 0, as every store's `readPayload` does. */
export const assertRange = ({ offset, length }: PayloadRange): void => {
  if (isCount(offset) && isCount(length)) return;
  throw new BridgeError("invalid_input", `a range needs whole numbers from 0, got offset ${offset}, length ${length}`, {
    operation: "readPayload",
  });
};
