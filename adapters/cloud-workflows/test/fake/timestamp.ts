/**
 * RFC 3339 with nanoseconds, as JSON of protobuf has it: "always Z-normalized and uses 0, 3, 6 or 9 fractional digits".
 * https://protobuf.dev/programming-guides/json/
 *
 * @param nanos What comes on top of the milliseconds (0 to 999,999).
 */
export const toTimestamp = (ms: number, nanos = 0): string => {
  const whole = new Date(ms).toISOString();
  if (nanos === 0) return whole.replace(/\.000Z$/, "Z");
  return whole.replace("Z", `${String(nanos).padStart(6, "0")}Z`.replace(/000Z$/, "Z"));
};

/** `3.5s`, by the same rules. */
export const toDuration = (ms: number): string => `${(ms / 1_000).toFixed(ms % 1_000 === 0 ? 0 : 3)}s`;
