import { randomBytes } from "node:crypto";

/**
 * One try to create a record. It marks all that the try writes in other slots, so that a part of one that came to nothing is told
 * from a part of the next. Its first part is the instant until which the record may still be written.
 */
export type Attempt = string;

const timeLength = 9;
const randomBytesOfAttempt = 3;
/** Characters. */
export const attemptLength: number = timeLength + Math.ceil((randomBytesOfAttempt * 8) / 6);

/** `deadline`: epoch milliseconds by the store's clock. */
export const newAttempt = (deadline: number): Attempt =>
  Math.floor(deadline).toString(36).padStart(timeLength, "0") + randomBytes(randomBytesOfAttempt).toString("base64url");

/** Epoch milliseconds by the store's clock, after which nobody writes the record of this attempt. */
export const deadlineOf = (attempt: Attempt): number => Number.parseInt(attempt.slice(0, timeLength), 36);
