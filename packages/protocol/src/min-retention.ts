/** A result that is gone before its caller has asked for it once would be of no use (milliseconds). */
export const minRetentionMs = 60_000;
